/// @file
/// K^e in another layout or number. They are made PACKED or REDUCED, in double precision; from
/// those come
///
///     PACKED -> DIFFERENCES, in single precision (ops/local/differences.h)
///     PACKED -> FULL, in double precision (ops/local/full.h)
///     any    -> the same layout, in single precision
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

typedef struct kg_local_convert_args {
  int m;          ///< modes of an edge
  kg_local from;  ///< in double precision
  kg_local to;    ///< of the same lanes; FULL: without empty ones behind them
} kg_local_convert_args;

/// @retval KEDGE_ERR_INTERNAL  no such conversion is known
kedge_status kg_local_convert(kedge_context *ctx, const kg_local_convert_args *args);
/// The cost of reading `from` and writing `to` for a number of elements.
kg_cost kg_local_convert_cost(const kg_local *from, const kg_local *to, int64_t n_elements);

/// The operators behind kg_local_convert(): PACKED to DIFFERENCES, and PACKED to FULL.
KG_DECLARE_OPERATOR(kg_local_differences, kg_local_convert_args);
KG_DECLARE_OPERATOR(kg_local_full, kg_local_convert_args);

KEDGE_END_DECLS

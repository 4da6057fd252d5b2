/// @file
/// A x becomes A x - b, of the rows that kg_trace_apply() has made of some patches and left open:
/// each loses what its sides have of F^e. Where b itself is not kept (elliptic/compact.h).
#pragma once
#include "ops/trace/trace_apply.h"
KEDGE_BEGIN_DECLS

typedef struct kg_trace_loads_args {
  kg_trace_apply_args product;  ///< batch, y and halo of that product
  const double *condensed;      ///< [group][n][lane], F^e
} kg_trace_loads_args;

KG_DECLARE_OPERATOR(kg_trace_loads, kg_trace_loads_args);
kg_cost kg_trace_loads_cost(int m, const kg_trace_counts *count);

KEDGE_END_DECLS

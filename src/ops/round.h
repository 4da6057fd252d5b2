/// @file
/// Double to single precision: to = scale from, rounded.
#pragma once
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_round_args {
  int64_t n;
  const double *from;   ///< [n]
  float *to;            ///< [n]
  const double *scale;  ///< in device memory, a power of two; NULL: 1
} kg_round_args;

kedge_status kg_round(kedge_context *ctx, const kg_round_args *args);
kg_cost kg_round_cost(int64_t n);

kedge_status kg_round_host(kedge_context *ctx, const kg_round_args *args);
kedge_status kg_round_cuda(kedge_context *ctx, const kg_round_args *args);

KEDGE_END_DECLS

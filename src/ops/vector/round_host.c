#include <math.h>

#include "device/context.h"
#include "ops/vector/round.h"

kedge_status kg_round_host(kedge_context *ctx, const kg_round_args *a)
{
  const double scale = a->exponent ? ldexp(1.0, *a->exponent) : 1.0;
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < a->n; ++i) a->to[i] = (float)(scale * a->from[i]);
  return KEDGE_OK;
}

#include "ops/vector/round.h"

#include <math.h>

#include "device/loop.h"
#include "ops/vector/pieces.h"

KG_OPERATOR(kg_round, kg_round_args)

static double scale_of(const kg_round_args *a, int vector)
{
  return a->exponent ? ldexp(1.0, a->exponent[vector]) : 1.0;
}

static void round_many(kedge_context *ctx, const kg_round_args *a)
{
  double scale[KG_VECTORS];
  for (int v = 0; v < KG_VECTORS; ++v) scale[v] = scale_of(a, v);
  if (a->advance.r) advance_rows(ctx, &a->advance, a->n / KG_VECTORS);
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, a->n, 2))
  for (int64_t i = 0; i < a->n; ++i) a->to[i] = (float)(scale[i % KG_VECTORS] * a->from[i]);
}

kedge_status kg_round_host(kedge_context *ctx, const kg_round_args *a)
{
  if (a->many) {
    round_many(ctx, a);
    return KEDGE_OK;
  }
  const double scale = scale_of(a, 0);
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, a->n, 2))
  for (int64_t i = 0; i < a->n; ++i) a->to[i] = (float)(scale * a->from[i]);
  return KEDGE_OK;
}

kg_cost kg_round_cost(int64_t n)
{
  return (kg_cost){.bytes = 12.0 * (double)n, .flops = (double)n};
}

#include "ops/vector/combine.h"

#include "device/loop.h"

KG_OPERATOR(kg_combine, kg_combine_args)

kg_cost kg_combine_cost(const kg_combine_args *a)
{
  const double n = (double)a->n;
  return (kg_cost){(a->n_terms + 1) * n * sizeof(double), 2.0 * a->n_terms * n};
}

kedge_status kg_combine_host(kedge_context *ctx, const kg_combine_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, a->n_terms))
  for (int64_t i = 0; i < a->n; ++i) kg_combine_one(a, i);
  return KEDGE_OK;
}

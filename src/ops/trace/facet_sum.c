#include "ops/trace/facet_sum.h"

#include "device/loop.h"

KG_OPERATOR(kg_facet_loads, kg_facet_loads_args)
KG_OPERATOR(kg_facet_diagonal, kg_facet_diagonal_args)

kedge_status kg_facet_loads_host(kedge_context *ctx, const kg_facet_loads_args *args)
{
  const int m = args->batch.m;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->batch.count.n_free, 4 * m))
  for (int32_t f = 0; f < args->batch.count.n_free; ++f) {
    const kg_side *sides = args->batch.arrays.edge_sides + 2 * (size_t)f;
    for (int k = 0; k < m; ++k) args->b[(size_t)f * m + k] = kg_facet_loads_row(args, sides, k);
  }
  return KEDGE_OK;
}

kedge_status kg_facet_diagonal_host(kedge_context *ctx, const kg_facet_diagonal_args *args)
{
  const int m = args->batch.m;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->batch.count.n_free, 4 * m))
  for (int32_t f = 0; f < args->batch.count.n_free; ++f) {
    const kg_side *sides = args->batch.arrays.edge_sides + 2 * (size_t)f;
    for (int k = 0; k < m; ++k)
      args->inverse[(size_t)f * m + k] = kg_facet_diagonal_row(args, sides, k);
  }
  return KEDGE_OK;
}

kg_cost kg_facet_sum_cost(int m, int64_t n_free)
{
  return (kg_cost){.bytes = (24.0 * m + 8.0) * (double)n_free, .flops = (double)m * (double)n_free};
}

#include "device/context.h"
#include "ops/trace/facet_sum.h"

kedge_status kg_facet_loads_host(kedge_context *ctx, const kg_facet_loads_args *args)
{
  const int m = args->batch.reference.size.n_edge;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t f = 0; f < args->batch.count.n_free; ++f) {
    const kg_side *sides = args->batch.arrays.edge_sides + 2 * (size_t)f;
    for (int k = 0; k < m; ++k) args->b[(size_t)f * m + k] = kg_facet_loads_row(args, sides, k);
  }
  return KEDGE_OK;
}

kedge_status kg_facet_diagonal_host(kedge_context *ctx, const kg_facet_diagonal_args *args)
{
  const int m = args->batch.reference.size.n_edge;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t f = 0; f < args->batch.count.n_free; ++f) {
    const kg_side *sides = args->batch.arrays.edge_sides + 2 * (size_t)f;
    for (int k = 0; k < m; ++k)
      args->inverse[(size_t)f * m + k] = kg_facet_diagonal_row(args, sides, k);
  }
  return KEDGE_OK;
}

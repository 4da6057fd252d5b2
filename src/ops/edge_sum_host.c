#include "core/context.h"
#include "ops/edge_sum.h"

kedge_status kg_edge_sum_host(kedge_context *ctx, const kg_edge_sum_args *args)
{
  const int m = args->batch.reference.size.n_edge;
  const kg_trace_counts *count = &args->batch.count;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t f = 0; f < count->n_free; ++f) {
    const kg_side *sides = args->batch.arrays.edge_sides + 2 * (size_t)f;
    for (int k = 0; k < m; ++k) {
      double sum = kg_edge_sum_value(args, sides[0], k);
      if (sides[1] != KG_NO_SIDE) sum += kg_edge_sum_value(args, sides[1], k);
      args->y[(size_t)f * m + k] = kg_edge_sum_result(args, sum);
    }
  }
  return KEDGE_OK;
}

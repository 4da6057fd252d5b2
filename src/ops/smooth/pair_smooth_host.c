#include "device/loop.h"
#include "ops/smooth/pair_smooth.h"

kedge_status KG_REAL(kg_pair_smooth_host)(kedge_context *ctx, const kg_pair_smooth_args *a)
{
  const int m = a->size.n_edge, K = a->many ? KG_VECTORS : 1;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, m *m))
  for (int32_t edge = 0; edge < a->n_edges; ++edge)
    for (int v = 0; a->pair[edge] > 0 && v < K; ++v) kg_pair_step(a, m, edge, K, v);
  return KEDGE_OK;
}

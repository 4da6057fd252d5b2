#include "core/context.h"
#include "ops/vertex_transfer.h"

kedge_status KG_REAL(kg_vertex_restrict_host)(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < a->space.n_rows; ++i) a->coarse[i] = kg_vertex_gather(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_prolong_host)(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t edge = 0; edge < a->correction.n_edges; ++edge) kg_vertex_add(a, edge);
  return KEDGE_OK;
}

#include "core/context.h"
#include "ops/vertex_flux.h"

kedge_status kg_vertex_flux_fill_host(kedge_context *ctx, const kg_vertex_flux_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge) kg_vertex_flux_of(a, edge);
  return KEDGE_OK;
}

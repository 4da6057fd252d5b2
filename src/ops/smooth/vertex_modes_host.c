#include "device/context.h"
#include "ops/smooth/vertex_modes.h"

kedge_status kg_vertex_modes_fill_host(kedge_context *ctx, const kg_vertex_modes_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) kg_vertex_mode_corners(a, e);
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : fault)
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i)
    if (!kg_vertex_mode_weigh(a, i) && i < fault) fault = i;
  *a->fault = fault;
  return KEDGE_OK;
}

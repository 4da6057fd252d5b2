#include "device/context.h"
#include "ops/trace/trace_sides.h"

kedge_status kg_trace_sides_host(kedge_context *ctx, const kg_trace_sides_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t lane = 0; lane < args->batch.count.n_groups * KG_LANES; ++lane)
    kg_put_sides(args, lane);
  return KEDGE_OK;
}

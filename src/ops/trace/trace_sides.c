#include "ops/trace/trace_sides.h"

#include "device/loop.h"

KG_OPERATOR(kg_trace_sides, kg_trace_sides_args)

kedge_status kg_trace_sides_host(kedge_context *ctx, const kg_trace_sides_args *args)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->batch.count.n_elements, 16))
  for (int32_t lane = 0; lane < args->batch.count.n_groups * KG_LANES; ++lane)
    kg_put_sides(args, lane);
  return KEDGE_OK;
}

/// An element: codes and vertices read, sides written. A halo entry: its edge.
kg_cost kg_trace_sides_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = 28.0 * count->n_elements + 4.0 * count->n_halo};
}

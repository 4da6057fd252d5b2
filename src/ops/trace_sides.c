#include "ops/trace_sides.h"

#include "backend/backend.h"
#include "core/context.h"

kedge_status kg_trace_sides(kedge_context *ctx, const kg_trace_sides_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_trace_sides_args *) =
      KG_IMPLEMENTATIONS(kg_trace_sides_host, kg_trace_sides_cuda);
  return impl[ctx->backend](ctx, args);
}

/// An element: codes and vertices read, sides written. A halo entry: its edge.
kg_cost kg_trace_sides_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = 28.0 * count->n_elements + 4.0 * count->n_halo};
}

kedge_status kg_first_sides(kedge_context *ctx, const kg_first_sides_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_first_sides_args *) =
      KG_IMPLEMENTATIONS(kg_first_sides_host, kg_first_sides_cuda);
  return impl[ctx->backend](ctx, args);
}

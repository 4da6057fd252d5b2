#include "ops/vertex_flux.h"

#include "core/context.h"

kedge_status kg_vertex_flux_fill(kedge_context *ctx, const kg_vertex_flux_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_vertex_flux_args *) =
      KG_IMPLEMENTATIONS(kg_vertex_flux_fill_host, kg_vertex_flux_fill_cuda);
  return impl[ctx->backend](ctx, args);
}

/// An edge: its sides, and of each two entries of the element's matrix, the sides of the edge itself and
/// of a neighbour, an unknown of that; written: two unknowns, three numbers.
kg_cost kg_vertex_flux_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = (8.0 + 2 * (16.0 + 8.0 + 4.0) + 8.0 + 12.0) * count->n_free,
                   .flops = 8.0 * count->n_free};
}

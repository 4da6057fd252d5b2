#include "ops/trace/trace_gather.h"

#include "device/context.h"

kedge_status kg_trace_gather(kedge_context *ctx, const kg_trace_gather_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_trace_gather_args *) =
      KG_IMPLEMENTATIONS(kg_trace_gather_host, kg_trace_gather_cuda);
  assert(args->local.layout == KG_LAYOUT_FULL && args->batch.arrays.n_facets == 3);
  assert(args->local.n_elements == args->batch.count.n_elements);  // all, in one batch
  if (args->pass.open) *args->pass.open = (kg_open){0};
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_trace_gather_cost(kg_sizes size, const kg_trace_counts *count)
{
  const double sides = 2.0 * ((double)count->n_interior + count->n_shared) + count->n_neumann;
  const double entries = sides * size.n_edge * size.n_trace;
  const double indices = 12.0 * count->n_elements + 8.0 * count->n_free;
  const double vectors = 8.0 * size.n_edge * ((double)count->n_edges + (double)count->n_free);
  return (kg_cost){.bytes = 8.0 * entries + indices + vectors, .flops = 2.0 * entries};
}

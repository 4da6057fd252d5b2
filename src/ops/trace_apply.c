#include "ops/trace_apply.h"

#include "core/context.h"

kedge_status kg_trace_apply(kedge_context *ctx, const kg_trace_apply_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_trace_apply_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_trace_apply_host, kg_trace_apply_cuda);
  const kg_local *local = &args->local;
  assert(local->layout != KG_LAYOUT_FULL && local->n == args->batch.reference.size.n_trace);
  assert(local->layout != KG_LAYOUT_DIFFERENCES || local->number == KG_SINGLE);
  assert(local->n_lanes == args->batch.count.n_groups * KG_LANES);
  if (args->pass.open) {
    const kg_trace_counts *n = &args->batch.count;
    const int64_t m = args->batch.reference.size.n_edge;
    *args->pass.open = (kg_open){n->n_interior * m, n->n_shared * m, args->halo};
  }
  return impl[local->number][ctx->backend](ctx, args);
}

/// Each number of K^e but those of fluxes is in a product of two uses.
kg_cost kg_trace_apply_cost(kg_sizes size, const kg_trace_counts *count, const kg_local *local)
{
  const double vectors = size.n_edge * ((double)count->n_edges + (double)count->n_free);
  const double n = size.n_trace, rows = local->rows, elements = count->n_elements;
  return (kg_cost){.bytes = (double)kg_number_bytes(local->number) * (rows * elements + vectors),
                   .flops = (4.0 * rows - 2.0 * n) * elements};
}

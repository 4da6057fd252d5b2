#include "ops/trace_apply.h"

#include <assert.h>

#include "core/context.h"

kedge_status kg_trace_apply(kedge_context *ctx, const kg_trace_apply_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_trace_apply_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_trace_apply_host, kg_trace_apply_cuda);
  assert(!args->differences || args->number == KG_SINGLE);
  return impl[args->number][ctx->backend](ctx, args);
}

kg_cost kg_trace_apply_cost(kg_sizes size, const kg_trace_counts *count)
{
  const double n = size.n_trace, elements = count->n_elements;
  const double vectors = 8.0 * size.n_edge * ((double)count->n_edges + (double)count->n_free);
  return (kg_cost){.bytes = 8.0 * size.n_packed * elements + vectors,
                   .flops = 2 * n * n * elements};
}

kg_cost kg_trace_apply_cost_single(kg_sizes size, const kg_trace_counts *count)
{
  kg_cost cost = kg_trace_apply_cost(size, count);
  cost.bytes /= 2;
  return cost;
}

#include "ops/trace_apply.h"

#include <assert.h>

#include "core/context.h"
#include "ops/local_reduced.h"

kedge_status kg_trace_apply(kedge_context *ctx, const kg_trace_apply_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_trace_apply_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_trace_apply_host, kg_trace_apply_cuda);
  assert(!args->differences || (args->number == KG_SINGLE && !args->reduced));
  return impl[args->number][ctx->backend](ctx, args);
}

/// An element with `rows` numbers of K^e, each but those of fluxes in a product of two uses.
static kg_cost apply_cost(kg_sizes size, const kg_trace_counts *count, double rows)
{
  const double vectors = 8.0 * size.n_edge * ((double)count->n_edges + (double)count->n_free);
  const double n = size.n_trace, elements = count->n_elements;
  return (kg_cost){.bytes = 8.0 * rows * elements + vectors,
                   .flops = (4.0 * rows - 2.0 * n) * elements};
}

kg_cost kg_trace_apply_cost(kg_sizes size, const kg_trace_counts *count)
{
  return apply_cost(size, count, size.n_packed);
}

kg_cost kg_trace_apply_cost_reduced(kg_sizes size, const kg_trace_counts *count)
{
  return apply_cost(size, count, kg_reduced_rows(size));
}

kg_cost kg_trace_apply_cost_single(kg_sizes size, const kg_trace_counts *count)
{
  kg_cost cost = kg_trace_apply_cost(size, count);
  cost.bytes /= 2;
  return cost;
}

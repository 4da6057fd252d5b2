#include "ops/trace_plain.h"

#include "core/context.h"

size_t kg_trace_plain_count(kg_sizes size, const kg_trace_counts *count)
{
  return (size_t)size.n_trace * (size_t)size.n_trace * (size_t)count->n_elements;
}

KG_OPERATOR(kg_trace_expand, kg_trace_expand_args)

kg_cost kg_trace_expand_cost(kg_sizes size, const kg_trace_counts *count)
{
  const double packed = (double)size.n_packed * count->n_elements;
  return (kg_cost){.bytes = 8.0 * (packed + (double)kg_trace_plain_count(size, count))};
}

kedge_status kg_trace_plain(kedge_context *ctx, const kg_trace_plain_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_trace_plain_args *) =
      KG_IMPLEMENTATIONS(kg_trace_plain_host, kg_trace_plain_cuda);
  if (args->pass.open) *args->pass.open = (kg_open){0};
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_trace_plain_cost(kg_sizes size, const kg_trace_counts *count)
{
  const double sides = 2.0 * ((double)count->n_interior + count->n_shared) + count->n_neumann;
  const double entries = sides * size.n_edge * size.n_trace;
  const double indices = 12.0 * count->n_elements + 8.0 * count->n_free;
  const double vectors = 8.0 * size.n_edge * ((double)count->n_edges + (double)count->n_free);
  return (kg_cost){.bytes = 8.0 * entries + indices + vectors, .flops = 2.0 * entries};
}

#include "ops/trace/trace_loads.h"

#include "device/context.h"

kedge_status kg_trace_loads(kedge_context *ctx, const kg_trace_loads_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_trace_loads_args *) =
      KG_IMPLEMENTATIONS(kg_trace_loads_host, kg_trace_loads_cuda);
  assert(args->product.batch.arrays.n_facets == 3);
  return impl[ctx->backend](ctx, args);
}

/// F^e and codes of an element; the rows are read and written.
kg_cost kg_trace_loads_cost(kg_sizes size, const kg_trace_counts *count)
{
  const double rows = (double)count->n_free * size.n_edge;
  const double numbers = (double)count->n_elements * size.n_trace;
  return (kg_cost){.bytes = 8.0 * numbers + 4.0 * count->n_elements + 16.0 * rows,
                   .flops = numbers};
}

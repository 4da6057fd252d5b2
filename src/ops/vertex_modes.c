#include "ops/vertex_modes.h"

#include <math.h>

#include "core/context.h"

void kg_vertex_mode_shape(int order, double *shape)
{
  const int count[2] = {order / 2, (order + 1) / 2};  // modes 1 to P of even and of odd k
  shape[0] = 0.0;
  for (int k = 1; k <= order; ++k) shape[k] = 1.0 / (count[k & 1] * sqrt(2.0 * (2 * k + 1)));
}

kedge_status kg_vertex_modes_fill(kedge_context *ctx, const kg_vertex_modes_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_vertex_modes_args *) =
      KG_IMPLEMENTATIONS(kg_vertex_modes_fill_host, kg_vertex_modes_fill_cuda);
  return impl[ctx->backend](ctx, args);
}

/// An element: K^e without its modes 0, of the blocks on the diagonal both triangles; three corners written, read
/// by the vertices with the six ends of the sides. An edge: its ends and sides. A vertex: its ends and its weight.
kg_cost kg_vertex_modes_cost(kg_sizes size, const kg_trace_counts *count, int32_t n_vertices)
{
  const double p = size.order, entries = 3 * p * p + 3 * p * (p + 1) / 2;
  return (kg_cost){.bytes = (8.0 * entries + 2 * 24.0 + 12.0) * count->n_elements +
                            (8.0 + 16.0) * count->n_free + 16.0 * n_vertices,
                   .flops = 3.0 * 6 * p * p * count->n_elements};
}

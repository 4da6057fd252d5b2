#include "ops/smooth/vertex_matrix.h"

#include "device/loop.h"

KG_OPERATOR(kg_vertex_matrix_fill, kg_vertex_matrix_args)

kedge_status kg_vertex_matrix_fill_host(kedge_context *ctx, const kg_vertex_matrix_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->batch.count.n_elements, 32))
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) kg_vertex_element(a, e);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 32))
  for (int32_t row = 0; row < a->space.n_rows; ++row) kg_vertex_row(a, row);
  return KEDGE_OK;
}

/// An element: 21 entries of K^e, or three fluxes, and three sides read, six written, nine read by
/// the rows of its vertices. An edge: its ends, vertices and sides read, two entries written. A
/// vertex: its first end and diagonal.
kg_cost kg_vertex_matrix_cost(const kg_trace_counts *count, int32_t n_vertices,
                              const kg_local *local)
{
  const bool reduced = local->layout == KG_LAYOUT_REDUCED;
  const double entries = (double)kg_number_bytes(local->number) * (reduced ? 3 : 21);
  const double element = entries + 8.0 * (6 + 9) + 12.0, edge = 2 * (4.0 + 8.0 + 8.0 + 8.0);
  return (kg_cost){.bytes = element * count->n_elements + edge * count->n_free + 12.0 * n_vertices,
                   .flops = (reduced ? 9.0 : 6.0 * 16.0 * 3.0) * count->n_elements};
}

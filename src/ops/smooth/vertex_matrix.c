#include "ops/smooth/corner_matrix.h"

#include "device/loop.h"

KG_OPERATOR(kg_vertex_matrix_fill, kg_vertex_matrix_args)

static kedge_status fill_in_space(kedge_context *ctx, const kg_vertex_matrix_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->batch.count.n_elements, 512))
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) kg_corner_element(a, e);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 512))
  for (int32_t row = 0; row < a->space.n_rows; ++row) kg_corner_row(a, row);
  return KEDGE_OK;
}

kedge_status kg_vertex_matrix_fill_host(kedge_context *ctx, const kg_vertex_matrix_args *a)
{
  if (kg_lanes_in_space(&a->batch.count.lanes)) return fill_in_space(ctx, a);
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
/// A tetrahedron: 78 entries of K^e and four vertices read, ten written, and 16 read by the rows,
/// which find it by two sides of twelve corners of facets; an entry is written once.
kg_cost kg_vertex_matrix_cost(const kg_trace_counts *count, int32_t n_vertices,
                              const kg_local *local)
{
  if (kg_lanes_in_space(&count->lanes)) {
    const double bytes = (double)kg_number_bytes(local->number) * 78 + 16.0 + 8.0 * (10 + 16);
    const double corners = 3 * (4.0 + 8.0),
                 entries = (double)kg_vertex_entries_max(count, n_vertices);
    return (kg_cost){.bytes = bytes * count->n_elements + corners * count->n_free + 24.0 * entries,
                     .flops = 10 * 6 * 9.0 * count->n_elements};
  }
  const bool reduced = local->layout == KG_LAYOUT_REDUCED;
  const double entries = (double)kg_number_bytes(local->number) * (reduced ? 3 : 21);
  const double element = entries + 8.0 * (6 + 9) + 12.0, edge = 2 * (4.0 + 8.0 + 8.0 + 8.0);
  return (kg_cost){.bytes = element * count->n_elements + edge * count->n_free + 12.0 * n_vertices,
                   .flops = (reduced ? 9.0 : 6.0 * 16.0 * 3.0) * count->n_elements};
}

#include "ops/smooth/corner_rows.h"

#include "device/loop.h"

KG_OPERATOR(kg_vertex_rows_fill, kg_vertex_rows_args)

kedge_status kg_vertex_rows_fill_host(kedge_context *ctx, const kg_vertex_rows_args *a)
{
  const int32_t n = a->batch.count.n_free;
  const int threads = kg_loop_threads(ctx, n, 16 * a->batch.m);
  if (kg_lanes_in_space(&a->batch.count.lanes)) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int32_t facet = 0; facet < n; ++facet) kg_corner_rows_of(a, facet);
    return KEDGE_OK;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int32_t edge = 0; edge < n; ++edge) kg_vertex_rows_of(a, edge);
  return KEDGE_OK;
}

/// Facets of an element.
static double facets_of(const kg_trace_counts *count)
{
  return kg_vertex_row_width(count) == 4 ? 3.0 : 4.0;
}

/// An edge: of each mode modes 0 and 1, in space to 2, of the facets of two elements, their sides
/// and vertices; the rows written.
kg_cost kg_vertex_rows_cost(int m, const kg_trace_counts *count, kg_number local)
{
  const double width = kg_vertex_row_width(count), facets = facets_of(count);
  const double entries = 2.0 * kg_facet_ends(&count->lanes) * facets * m;
  const double edge =
      (double)kg_number_bytes(local) * entries + 4.0 * width * m + 8.0 + 2.0 * 8.0 * facets;
  return (kg_cost){.bytes = edge * count->n_free, .flops = 3.0 * entries * count->n_free};
}

/// Rows, the sides of an edge and the vertices of elements; the unknowns and ends are counted
/// already (kg_vertex_transfer_cost()).
kg_cost kg_vertex_rows_product_cost(int m, const kg_trace_counts *count)
{
  const double width = kg_vertex_row_width(count), facets = facets_of(count);
  const double numbers = width * m;
  return (kg_cost){
      .bytes = (4.0 * numbers + 8.0) * count->n_free + 4.0 * facets * count->n_elements,
      .flops = 2 * numbers * count->n_free};
}

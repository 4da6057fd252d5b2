#include "ops/smooth/vertex_rows.h"

#include "device/loop.h"

KG_OPERATOR(kg_vertex_rows_fill, kg_vertex_rows_args)

kedge_status kg_vertex_rows_fill_host(kedge_context *ctx, const kg_vertex_rows_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->batch.count.n_free, 16 * a->batch.m))
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge) kg_vertex_rows_of(a, edge);
  return KEDGE_OK;
}

/// An edge: of each mode modes 0 and 1 of the facets of two elements, their sides and vertices; the
/// rows written.
kg_cost kg_vertex_rows_cost(int m, const kg_trace_counts *count, kg_number local)
{
  const double width = kg_vertex_row_width(count), facets = width == 6 ? 4.0 : 3.0;
  const double entries = 2.0 * 2.0 * facets * m;
  const double edge =
      (double)kg_number_bytes(local) * entries + 4.0 * width * m + 8.0 + 2.0 * 8.0 * facets;
  return (kg_cost){.bytes = edge * count->n_free, .flops = 3.0 * entries * count->n_free};
}

/// Rows, the sides of an edge and the vertices of elements; the unknowns and ends are counted
/// already (kg_vertex_transfer_cost()).
kg_cost kg_vertex_rows_product_cost(int m, const kg_trace_counts *count)
{
  const double width = kg_vertex_row_width(count), facets = width == 6 ? 4.0 : 3.0;
  const double numbers = width * m;
  return (kg_cost){
      .bytes = (4.0 * numbers + 8.0) * count->n_free + 4.0 * facets * count->n_elements,
      .flops = 2 * numbers * count->n_free};
}

#include "core/context.h"
#include "ops/vertex_matrix.h"

kedge_status kg_vertex_matrix_work_bytes_host(kedge_context *ctx, int32_t n_vertices, size_t *bytes)
{
  (void)ctx, (void)n_vertices;
  *bytes = 0;
  return KEDGE_OK;
}

kedge_status kg_vertex_matrix_fill_host(kedge_context *ctx, const kg_vertex_matrix_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t e = 0; e < a->batch.count.n_elements; ++e) kg_vertex_element(a, e);
  a->row[0] = 0;
  for (int32_t row = 0; row < a->space.n_rows; ++row)
    a->row[row + 1] = a->row[row] + kg_vertex_row_length(&a->space, row);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t row = 0; row < a->space.n_rows; ++row) kg_vertex_row(a, row);
  *a->n_entries = a->row[a->space.n_rows];
  return KEDGE_OK;
}

#include "device/context.h"
#include "ops/smooth/vertex_matrix.h"

kedge_status kg_vertex_matrix_fill_host(kedge_context *ctx, const kg_vertex_matrix_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) kg_vertex_element(a, e);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t row = 0; row < a->space.n_rows; ++row) kg_vertex_row(a, row);
  return KEDGE_OK;
}

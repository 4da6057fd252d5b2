#include "core/context.h"
#include "ops/vertex_transfer.h"

kedge_status KG_REAL(kg_vertex_restrict_host)(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < a->space.n_rows; ++i) a->coarse[i] = kg_vertex_gather(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_prolong_host)(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t edge = 0; edge < a->correction.n_edges; ++edge) kg_vertex_add(a, edge);
  return KEDGE_OK;
}

static double mode_value(const kg_vertex_modes_restrict_args *a, int32_t i)
{
  const kg_vertex_space *space = &a->modes.space;
  const kg_real *r = a->r, *product = a->product;
  const int m = a->size.n_edge;
  double sum = 0.0;
  for (int32_t k = space->begin[i]; k < space->begin[i + 1]; ++k) {
    const int64_t row = (int64_t)(space->ends[k] >> 1) * m;
    kg_real x[KEDGE_ORDER_MAX + 1];
    for (int j = 0; j < m; ++j) x[j] = product ? r[row + j] - product[row + j] : r[row + j];
    sum += kg_vertex_mode_dot(&a->modes, m, space->ends[k] & 1, x);
  }
  return a->modes.weight[i] * sum;
}

kedge_status KG_REAL(kg_vertex_modes_restrict_host)(kedge_context *ctx,
                                                    const kg_vertex_modes_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i) a->modes.value[i] = mode_value(a, i);
  return KEDGE_OK;
}

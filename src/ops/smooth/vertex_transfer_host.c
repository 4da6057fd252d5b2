#include "device/loop.h"
#include "ops/smooth/vertex_transfer.h"

kedge_status KG_REAL(kg_vertex_restrict_host)(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i)
    for (int v = 0; v < (a->many ? KG_VECTORS : 1); ++v)
      kg_vertex_gather_of(a, i, a->many ? KG_VECTORS : 1, v);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_prolong_host)(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->correction.n_edges, 8))
  for (int32_t edge = 0; edge < a->correction.n_edges; ++edge)
    if (!a->correction.rows.value)
      kg_vertex_add(a, edge);
    else
      for (int v = 0; v < (a->many ? KG_VECTORS : 1); ++v)
        kg_vertex_add_rows_of(a, edge, a->many ? KG_VECTORS : 1, v);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_spread_host)(kedge_context *ctx, const kg_vertex_spread_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i)
    for (int v = 0; v < (a->many ? KG_VECTORS : 1); ++v)
      kg_vertex_spread_of(a, i, a->many ? KG_VECTORS : 1, v);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_modes_restrict_host)(kedge_context *ctx,
                                                    const kg_vertex_modes_restrict_args *a)
{
  const int m = a->size.n_edge, K = a->many ? KG_VECTORS : 1;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, 4 * m))
  for (int32_t edge = 0; edge < a->n_edges; ++edge)
    for (int v = 0; v < K; ++v) {
      const kg_real *r = (const kg_real *)a->r + (int64_t)edge * m * K + v;
      const kg_real *product = (const kg_real *)a->product + (int64_t)edge * m * K + v;
      kg_real x[KEDGE_ORDER_MAX + 1];
      for (int k = 0; k < m; ++k) x[k] = a->product ? r[k * K] - product[k * K] : r[k * K];
      kg_vertex_mode_parts(&a->modes, m, edge, K, v, x);
    }
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->modes.space.n_rows, 16))
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i)
    for (int v = 0; v < K; ++v) kg_vertex_mode_value_of(a, i, K, v);
  return KEDGE_OK;
}

#include "device/loop.h"
#include "ops/smooth/vertex_transfer.h"

kedge_status KG_REAL(kg_vertex_restrict_host)(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i) kg_vertex_gather(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_prolong_host)(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->correction.n_edges, 8))
  for (int32_t edge = 0; edge < a->correction.n_edges; ++edge)
    a->correction.rows.value ? kg_vertex_add_rows(a, edge) : kg_vertex_add(a, edge);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_spread_host)(kedge_context *ctx, const kg_vertex_spread_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i) kg_vertex_spread_at(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_modes_restrict_host)(kedge_context *ctx,
                                                    const kg_vertex_modes_restrict_args *a)
{
  const int m = a->size.n_edge;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, 4 * m))
  for (int32_t edge = 0; edge < a->n_edges; ++edge) {
    const kg_real *r = (const kg_real *)a->r + (int64_t)edge * m;
    const kg_real *product = a->product ? (const kg_real *)a->product + (int64_t)edge * m : NULL;
    kg_real x[KEDGE_ORDER_MAX + 1];
    for (int k = 0; k < m; ++k) x[k] = product ? r[k] - product[k] : r[k];
    kg_vertex_mode_parts(&a->modes, m, edge, x);
  }
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->modes.space.n_rows, 16))
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i) kg_vertex_mode_value(a, i);
  return KEDGE_OK;
}

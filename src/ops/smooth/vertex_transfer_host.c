#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/smooth/corner_transfer.h"

static kedge_status restrict_in_space(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 128))
  for (int32_t i = 0; i < a->space.n_rows; ++i) kg_corner_gather(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_restrict_host)(kedge_context *ctx, const kg_vertex_restrict_args *a)
{
  if (kg_lanes_in_space(&a->space.mesh.lanes)) return restrict_in_space(ctx, a);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i)
    if (!a->many)
      kg_vertex_gather(a, i);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_vertex_gather_of(a, i, KG_VECTORS, v);
  return KEDGE_OK;
}

static kedge_status prolong_in_space(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
  const int32_t n = a->correction.n_edges;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 6 * a->m))
  for (int32_t facet = 0; facet < n; ++facet) kg_corner_add_rows(a, facet);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_prolong_host)(kedge_context *ctx, const kg_vertex_prolong_args *a)
{
  if (kg_lanes_in_space(&a->correction.space.mesh.lanes)) return prolong_in_space(ctx, a);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->correction.n_edges, 8))
  for (int32_t edge = 0; edge < a->correction.n_edges; ++edge)
    if (!a->correction.rows.value)
      kg_vertex_add(a, edge);
    else if (!a->many)
      kg_vertex_add_rows(a, edge);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_vertex_add_rows_of(a, edge, KG_VECTORS, v);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_vertex_spread_host)(kedge_context *ctx, const kg_vertex_spread_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->space.n_rows, 16))
  for (int32_t i = 0; i < a->space.n_rows; ++i)
    if (!a->many)
      kg_vertex_spread_at(a, i);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_vertex_spread_of(a, i, KG_VECTORS, v);
  return KEDGE_OK;
}

/// The parts of an edge, of one of K vectors.
static inline void mode_parts(const kg_vertex_modes_restrict_args *a, int32_t edge, int K,
                              int vector)
{
  const int m = a->m;
  const int64_t row = (int64_t)edge * m * K + vector;
  const kg_real *r = (const kg_real *)a->r + row;
  const kg_real *product = a->product ? (const kg_real *)a->product + row : NULL;
  kg_real x[KEDGE_ORDER_MAX + 1];
  for (int k = 0; k < m; ++k) x[k] = product ? r[k * K] - product[k * K] : r[k * K];
  kg_vertex_mode_parts(&a->modes, m, edge, K, vector, x);
}

kedge_status KG_REAL(kg_vertex_modes_restrict_host)(kedge_context *ctx,
                                                    const kg_vertex_modes_restrict_args *a)
{
  if (a->advance.r) advance_rows(ctx, &a->advance, (int64_t)a->n_edges * a->m);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, 4 * a->m))
  for (int32_t edge = 0; edge < a->n_edges; ++edge)
    if (!a->many)
      mode_parts(a, edge, 1, 0);
    else
      for (int v = 0; v < KG_VECTORS; ++v) mode_parts(a, edge, KG_VECTORS, v);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->modes.space.n_rows, 16))
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i)
    if (!a->many)
      kg_vertex_mode_value(a, i);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_vertex_mode_value_of(a, i, KG_VECTORS, v);
  return KEDGE_OK;
}

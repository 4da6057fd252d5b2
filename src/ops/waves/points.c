#include "ops/waves/points.h"

#include "device/loop.h"

kedge_status KG_REAL(kg_wave_points_host)(kedge_context *ctx, const kg_wave_points_args *a)
{
  const int64_t n = a->n * a->state.n_fields;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 2 * a->state.n))
  for (int64_t i = 0; i < n; ++i) kg_wave_point(a, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_wave_nodes_host)(kedge_context *ctx, const kg_wave_nodes_args *a)
{
  const int64_t n = (int64_t)a->n_elements * a->n_points;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 2 * a->state.n))
  for (int64_t i = 0; i < n; ++i) kg_wave_node(a, i);
  return KEDGE_OK;
}

#ifndef KG_COMPILE_SINGLE
KG_OPERATOR_OF_NUMBERS(kg_wave_points, kg_wave_points_args, args->state.number)
KG_OPERATOR_OF_NUMBERS(kg_wave_nodes, kg_wave_nodes_args, args->state.number)
#endif

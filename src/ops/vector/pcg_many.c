// The passes of many vectors on the host.
#include "ops/vector/pcg_many.h"

#include "device/loop.h"

KG_OPERATOR(kg_pcg_many_direction, kg_pcg_many_args)
KG_OPERATOR(kg_pcg_many_step, kg_pcg_many_args)
KG_OPERATOR(kg_pcg_many_count, kg_pcg_many_args)
KG_OPERATOR(kg_interleave, kg_interleave_args)

kedge_status kg_pcg_many_direction_host(kedge_context *ctx, const kg_pcg_many_args *a)
{
  kg_pcg_turn turn[KG_VECTORS];
  for (int v = 0; v < KG_VECTORS; ++v) turn[v] = kg_pcg_turn_of(&a->states->of[v], true);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 5))
  for (int64_t row = 0; row < a->n / KG_VECTORS; ++row)
    for (int v = 0; v < KG_VECTORS; ++v) {
      const int64_t i = row * KG_VECTORS + v;
      if (turn[v].lags) a->x[i] += turn[v].alpha * a->p[i];
      if (turn[v].runs) a->p[i] = (a->z_single ? a->z_single[i] : a->z[i]) + turn[v].beta * a->p[i];
    }
  for (int v = 0; v < KG_VECTORS; ++v) kg_pcg_turn_end(&a->states->of[v], &turn[v]);
  return KEDGE_OK;
}

kedge_status kg_pcg_many_step_host(kedge_context *ctx, const kg_pcg_many_args *a)
{
  (void)ctx;
  for (int v = 0; v < KG_VECTORS; ++v) kg_pcg_find_step(&a->states->of[v]);
  return KEDGE_OK;
}

kedge_status kg_pcg_many_count_host(kedge_context *ctx, const kg_pcg_many_args *a)
{
  (void)ctx;
  kg_pcg_count_all(a->states, a->steps);
  return KEDGE_OK;
}

kedge_status kg_interleave_host(kedge_context *ctx, const kg_interleave_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 8))
  for (int64_t row = 0; row < a->n; ++row)
    for (int v = 0; v < KG_VECTORS; ++v)
      if (a->apart)
        a->to[v * a->n + row] = a->from[row * KG_VECTORS + v];
      else
        a->to[row * KG_VECTORS + v] = a->from[v * a->n + row];
  return KEDGE_OK;
}

#include "precondition/amg/inner_cg.h"

#include "ops/vector/pieces.h"

KG_OPERATOR(kg_inner_cg_rz, kg_inner_cg_args)
KG_OPERATOR(kg_inner_cg_direction, kg_inner_cg_args)
KG_OPERATOR(kg_inner_cg_p_ap, kg_inner_cg_args)
KG_OPERATOR(kg_inner_cg_update, kg_inner_cg_args)

/// The sum of a (b - c) over numbers of each vector.
/// @param[in] c  NULL: zero
static kedge_status add(kedge_context *ctx, const kg_inner_cg_args *args, const double *a,
                        const double *b, const double *c)
{
  const int K = args->many ? KG_VECTORS : 1;
  const int64_t rows = args->n / K;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->n, 4))
  for (int piece = 0; piece < KG_PIECES; ++piece)
    for (int v = 0; v < K; ++v) {
      double sum = 0.0;
      for (int64_t row = piece_begin(rows, piece); row < piece_begin(rows, piece + 1); ++row)
        sum += a[row * K + v] * (b[row * K + v] - (c ? c[row * K + v] : 0.0));
      args->sum.part[v * args->sum.parts + piece] = sum;
    }
  kg_sum_pieces(&args->sum, args->many);
  return KEDGE_OK;
}

kedge_status kg_inner_cg_rz_host(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return add(ctx, a, a->r, a->z, NULL);
}

kedge_status kg_inner_cg_p_ap_host(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return add(ctx, a, a->p, a->r, a->next);
}

kedge_status kg_inner_cg_direction_host(kedge_context *ctx, const kg_inner_cg_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 4))
  for (int64_t i = 0; i < a->n; ++i) kg_inner_cg_direction_number(a, i);
  return KEDGE_OK;
}

kedge_status kg_inner_cg_update_host(kedge_context *ctx, const kg_inner_cg_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 4))
  for (int64_t i = 0; i < a->n; ++i) kg_inner_cg_update_number(a, i);
  return KEDGE_OK;
}

#include "core/context.h"
#include "ops/cg_pieces.h"
#include "ops/pcg_rows.h"
#include "ops/rounding.h"

kedge_status KG_REAL(kg_rounding_perturb_host)(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  const pcg_rows v = pcg_rows_of(a);
  const double scale = ldexp(1.0, pcg_exponent(a->state));
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < a->n; ++i) v.p[i] = (kg_real)(scale * kg_rounding_of(a->x[i], i));
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_rounding_sum_host)(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  const pcg_rows v = pcg_rows_of(a);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double sum = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) sum += (double)v.ap[i] * v.ap[i];
    a->partial[piece] = sum;
  }
  a->state->rr = ldexp(sum_in_order(a->partial, KG_PIECES), -2 * pcg_exponent(a->state));
  return KEDGE_OK;
}

#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/vector/rounding.h"

kedge_status KG_REAL(kg_rounding_perturb_host)(kedge_context *ctx, const kg_rounding_args *a)
{
  kg_real *p = a->p;
  const double scale = a->exponent ? ldexp(1.0, *a->exponent) : 1.0;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 8))
  for (int64_t i = 0; i < a->n; ++i) p[i] = (kg_real)(scale * kg_rounding_of(a->x[i], i));
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_rounding_sum_host)(kedge_context *ctx, const kg_rounding_args *a)
{
  const kg_real *ap = a->ap;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 1))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double sum = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) sum += (double)ap[i] * ap[i];
    a->part[piece] = sum;
  }
  *a->total = ldexp(sum_in_order(a->part, KG_PIECES), a->exponent ? -2 * *a->exponent : 0);
  return KEDGE_OK;
}

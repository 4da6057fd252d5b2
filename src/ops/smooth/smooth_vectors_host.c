#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/smooth/smooth_vectors.h"

kedge_status KG_REAL(kg_smooth_residual_host)(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
  const kg_real *r = a->r, *product = a->product;
  kg_real *v = a->v;
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, a->n, 3))
  for (int64_t i = 0; i < a->n; ++i) v[i] = product ? r[i] - product[i] : r[i];
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_smooth_advance_host)(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
  const kg_real *r = a->r, *y = a->y;
  const kg_real step = (kg_real)a->step, momentum = (kg_real)a->momentum;
  kg_real *z = a->z, *direction = a->d;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 4))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double sum = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) {
      kg_real d = step * y[i];
      if (momentum != 0) d += momentum * direction[i];
      if (direction) direction[i] = d;
      z[i] = a->from_zero ? d : z[i] + d;
      sum += (double)r[i] * z[i];
    }
    if (a->sum.total) a->sum.part[piece] = sum;
  }
  if (a->sum.total) kg_sum_end(&a->sum, sum_in_order(a->sum.part, KG_PIECES));
  return KEDGE_OK;
}

// Sums are taken over a fixed number of pieces and then in order, so that they do not depend on the
// number of threads.
#include "core/context.h"
#include "ops/cg_vectors.h"
#include "ops/real.h"
#include "ops/smooth_vectors.h"

kedge_status KG_REAL(kg_smooth_residual_host)(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
  const kg_real *r = a->r, *product = a->product;
  kg_real *v = a->v;
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < a->n; ++i) v[i] = product ? r[i] - product[i] : r[i];
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_smooth_advance_host)(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
  const kg_real *r = a->r, *y = a->y;
  const kg_real step = (kg_real)a->step, momentum = (kg_real)a->momentum;
  kg_real *z = a->z, *direction = a->d;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) {
    double sum = 0.0;
    const int64_t end = a->n * (piece + 1) / KG_CG_PARTIALS;
    for (int64_t i = a->n * piece / KG_CG_PARTIALS; i < end; ++i) {
      kg_real d = step * y[i];
      if (momentum != 0) d += momentum * direction[i];
      if (direction) direction[i] = d;
      z[i] = a->from_zero ? d : z[i] + d;
      sum += (double)r[i] * z[i];
    }
    if (a->state) a->partial[piece] = sum;
  }
  if (a->state) kg_cg_sum_rz(a->partial, a->state);
  return KEDGE_OK;
}

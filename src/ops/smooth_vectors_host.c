// Sums are taken over a fixed number of pieces and then in order, so that they do not depend on the
// number of threads.
#include "core/context.h"
#include "ops/cg_vectors.h"
#include "ops/smooth_vectors.h"

kedge_status kg_smooth_residual_host(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < a->n; ++i) a->v[i] = a->product ? a->r[i] - a->product[i] : a->r[i];
  return KEDGE_OK;
}

kedge_status kg_smooth_advance_host(kedge_context *ctx, const kg_smooth_vectors_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) {
    double sum = 0.0;
    const int64_t end = a->n * (piece + 1) / KG_CG_PARTIALS;
    for (int64_t i = a->n * piece / KG_CG_PARTIALS; i < end; ++i) {
      double d = a->step * a->y[i];
      if (a->momentum != 0.0) d += a->momentum * a->d[i];
      if (a->d) a->d[i] = d;
      a->z[i] = a->from_zero ? d : a->z[i] + d;
      sum += a->r[i] * a->z[i];
    }
    if (a->state) a->partial[piece] = sum;
  }
  if (!a->state) return KEDGE_OK;
  double rz = 0.0;
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) rz += a->partial[piece];
  kg_cg_judge_preconditioner(a->state, rz);
  return KEDGE_OK;
}

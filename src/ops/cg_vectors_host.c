// Sums are taken over a fixed number of pieces and then in order, so that they do not depend on the
// number of threads.
#include <math.h>

#include "core/context.h"
#include "ops/cg_vectors.h"

static int64_t piece_begin(int64_t n, int piece)
{
  return n * piece / KG_CG_PARTIALS;
}

static double sum_partials(const double *partial)
{
  double sum = 0.0;
  for (int i = 0; i < KG_CG_PARTIALS; ++i) sum += partial[i];
  return sum;
}

kedge_status kg_cg_start_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) {
    double rr = 0.0, rz = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) {
      const double r = a->b[i] - a->ap[i], z = a->inverse[i] * r;
      a->r[i] = r;
      a->p[i] = z;
      rr += r * r;
      rz += r * z;
    }
    a->partial[piece] = rr;
    a->partial[KG_CG_PARTIALS + piece] = rz;
  }
  a->state->rr = sum_partials(a->partial);
  a->state->rz = sum_partials(a->partial + KG_CG_PARTIALS);
  return KEDGE_OK;
}

kedge_status kg_cg_update_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->stop != KG_CG_RUNNING) return KEDGE_OK;
  const double alpha = s->rz / s->p_ap;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) {
    double rr = 0.0, rz = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
#pragma omp simd reduction(+ : rr, rz)
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) {
      a->x[i] += alpha * a->p[i];
      const double r = a->r[i] - alpha * a->ap[i];
      a->r[i] = r;
      rr += r * r;
      rz += r * r * a->inverse[i];
    }
    a->partial[piece] = rr;
    a->partial[KG_CG_PARTIALS + piece] = rz;
  }
  s->rr = sum_partials(a->partial);
  s->rz_next = sum_partials(a->partial + KG_CG_PARTIALS);
  ++s->iterations;
  if (!isfinite(s->rr) || !isfinite(s->rz_next))
    s->stop = KG_CG_NOT_FINITE;
  else if (s->rr <= s->target)
    s->stop = KG_CG_CONVERGED;
  else if (s->iterations >= s->max_iterations)
    s->stop = KG_CG_LIMIT;
  return KEDGE_OK;
}

kedge_status kg_cg_direction_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->stop != KG_CG_RUNNING) return KEDGE_OK;
  const double beta = s->rz_next / s->rz;
#pragma omp parallel for simd schedule(static) num_threads(ctx->threads)
  for (int64_t i = 0; i < a->n; ++i) a->p[i] = a->inverse[i] * a->r[i] + beta * a->p[i];
  s->rz = s->rz_next;
  return KEDGE_OK;
}

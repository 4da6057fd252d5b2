// The vector passes of many vectors on the host.
#include "ops/vector/pcg_many.h"

#include "device/loop.h"
#include "ops/vector/pieces.h"

KG_OPERATOR(kg_interleave, kg_interleave_args)

static void judge(kg_cg_state *s, double sum, int32_t not_positive)
{
  if (s->stop == KG_CG_RUNNING) s->stop = kg_cg_judge(sum, not_positive);
}

kedge_status kg_pcg_direction_many_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *const s = a->many->of;
  double beta[KG_VECTORS];
  bool runs[KG_VECTORS];
  for (int v = 0; v < KG_VECTORS; ++v) {
    judge(&s[v], s[v].rz_next, KG_CG_PRECONDITIONER);
    runs[v] = s[v].stop == KG_CG_RUNNING;
    beta[v] = s[v].rz == 0.0 ? 0.0 : s[v].rz_next / s[v].rz;
  }
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 3))
  for (int64_t row = 0; row < a->n / KG_VECTORS; ++row)
    for (int v = 0; v < KG_VECTORS; ++v) {
      const int64_t i = row * KG_VECTORS + v;
      if (runs[v]) a->p[i] = (a->z_single ? a->z_single[i] : a->z[i]) + beta[v] * a->p[i];
    }
  for (int v = 0; v < KG_VECTORS; ++v)
    if (runs[v]) s[v].rz = s[v].rz_next;
  return KEDGE_OK;
}

/// Rows begin to end - 1 of vector v.
static double update(const kg_cg_vectors_args *a, int64_t begin, int64_t end, int v, double alpha)
{
  double rr = 0.0;
#pragma omp simd reduction(+ : rr)
  for (int64_t row = begin; row < end; ++row) {
    const int64_t i = row * KG_VECTORS + v;
    a->x[i] += alpha * a->p[i];
    const double r = a->r[i] - alpha * a->ap[i];
    a->r[i] = r;
    rr += r * r;
  }
  return rr;
}

kedge_status kg_pcg_update_many_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *const s = a->many->of;
  for (int v = 0; v < KG_VECTORS; ++v) judge(&s[v], s[v].p_ap, KG_CG_INDEFINITE);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 6))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const int64_t begin = piece_begin(a->n / KG_VECTORS, piece);
    const int64_t end = piece_begin(a->n / KG_VECTORS, piece + 1);
    close_rows(a->ap, &a->open, begin * KG_VECTORS, end * KG_VECTORS);
    for (int v = 0; v < KG_VECTORS; ++v)
      if (s[v].stop == KG_CG_RUNNING)
        a->partial[v * KG_PIECES + piece] = update(a, begin, end, v, s[v].rz / s[v].p_ap);
  }
  for (int v = 0; v < KG_VECTORS; ++v) {
    if (s[v].stop != KG_CG_RUNNING) continue;
    kg_cg_count(&s[v], sum_in_order(a->partial + v * KG_PIECES, KG_PIECES), s[v].rz_next);
    s[v].steps = s[v].iterations;
  }
  a->many->stop = kg_cg_all_stopped(a->many);
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

// The vector passes of conjugate gradients with a preconditioner on the host.
#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/vector/pcg_rows.h"

kedge_status KG_REAL(kg_pcg_direction_host)(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->stop == KG_CG_RUNNING) s->stop = kg_cg_judge(s->rz_next, KG_CG_PRECONDITIONER);
  if (s->stop != KG_CG_RUNNING) return KEDGE_OK;
  const pcg_rows v = pcg_rows_of(a);
  const double beta = s->rz == 0.0 ? 0.0 : s->rz_next / s->rz;
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, a->n, 3))
  for (int64_t i = 0; i < a->n; ++i)
    v.p[i] = (kg_real)((a->z_single ? a->z_single[i] : a->z[i]) + beta * v.p[i]);
  s->rz = s->rz_next;
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_pcg_update_host)(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->stop == KG_CG_RUNNING) s->stop = kg_cg_judge(s->p_ap, KG_CG_INDEFINITE);
  if (s->stop != KG_CG_RUNNING) return KEDGE_OK;
  const pcg_rows v = pcg_rows_of(a);
  const double alpha = s->rz / s->p_ap, step = ldexp(alpha, -pcg_exponent(s));
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 6))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double rr = 0.0;
    const int64_t begin = piece_begin(a->n, piece), end = piece_begin(a->n, piece + 1);
    close_rows(v.ap, &a->open, begin, end);
#pragma omp simd reduction(+ : rr)
    for (int64_t i = begin; i < end; ++i) {
      a->x[i] += step * v.p[i];
      const double r = v.r[i] - alpha * v.ap[i];
      v.r[i] = (kg_real)r;
      rr += r * r;
    }
    a->partial[piece] = rr;
  }
  kg_cg_keep(a->steps, s);
  kg_cg_count(s, ldexp(sum_in_order(a->partial, KG_PIECES), -2 * pcg_exponent(s)), s->rz_next);
  s->steps = s->iterations;
  return KEDGE_OK;
}

// The vector passes of conjugate gradients; on the host those with a diagonal.
#include "ops/vector/cg_vectors.h"

#include "device/loop.h"
#include "ops/vector/pieces.h"

KG_OPERATOR(kg_cg_begin, kg_cg_vectors_args)
KG_OPERATOR(kg_cg_update, kg_cg_vectors_args)
KG_OPERATOR(kg_cg_direction, kg_cg_vectors_args)
KG_OPERATOR_OF_NUMBERS(kg_pcg_direction, kg_cg_vectors_args, kg_cg_number(args))
KG_OPERATOR_OF_NUMBERS(kg_pcg_update, kg_cg_vectors_args, kg_cg_number(args))

kedge_status kg_cg_begin_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 4))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double rz = 0.0;
    const int64_t end = piece_begin(a->n, piece + 1);
    for (int64_t i = piece_begin(a->n, piece); i < end; ++i) {
      const double r = a->r[i], z = a->inverse[i] * r;
      a->z[i] = z;
      a->p[i] = z;
      rz += r * z;
    }
    a->partial[piece] = rz;
  }
  kg_cg_first(a->state, sum_in_order(a->partial, KG_PIECES));
  return KEDGE_OK;
}

kedge_status kg_cg_update_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->stop == KG_CG_RUNNING) s->stop = kg_cg_judge(s->p_ap, KG_CG_INDEFINITE);
  if (s->stop != KG_CG_RUNNING) return KEDGE_OK;
  const double alpha = s->rz / s->p_ap;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 4))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double rr = 0.0, rz = 0.0;
    const int64_t begin = piece_begin(a->n, piece), end = piece_begin(a->n, piece + 1);
    close_rows(a->ap, &a->open, begin, end);
#pragma omp simd reduction(+ : rr, rz)
    for (int64_t i = begin; i < end; ++i) {
      const double z = a->z[i] - alpha * (a->inverse[i] * a->ap[i]), r = z / a->inverse[i];
      a->z[i] = z;
      rr += r * r;
      rz += r * z;
    }
    a->partial[piece] = rr;
    a->partial[KG_PIECES + piece] = rz;
  }
  kg_cg_keep(a->steps, s);
  kg_cg_count(s, sum_in_order(a->partial, KG_PIECES),
              sum_in_order(a->partial + KG_PIECES, KG_PIECES));
  return KEDGE_OK;
}

kedge_status kg_cg_direction_host(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  kg_cg_state *s = a->state;
  if (s->steps == s->iterations) return KEDGE_OK;
  const double alpha = s->rz / s->p_ap, beta = s->rz_next / s->rz;
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, a->n, 5))
  for (int64_t i = 0; i < a->n; ++i) {
    a->x[i] += alpha * a->p[i];
    a->p[i] = a->z[i] + beta * a->p[i];
  }
  s->rz = s->rz_next;
  s->steps = s->iterations;
  return KEDGE_OK;
}

kg_cost kg_cg_vectors_cost(int64_t n)
{
  // update: z, Ap, D^-1 in, z out; direction: z, p, x in, p, x out.
  return (kg_cost){.bytes = 8.0 * 9.0 * (double)n, .flops = 12.0 * (double)n};
}

kg_cost kg_pcg_vectors_cost(int64_t n, kg_number number)
{
  // direction: z, p in, p out; update: x, p, r, Ap in, x, r out.
  return (kg_cost){.bytes = (number == KG_SINGLE ? 4.0 * 7.0 + 8.0 * 2.0 : 8.0 * 9.0) * (double)n,
                   .flops = 8.0 * (double)n};
}

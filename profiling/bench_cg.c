// An iteration of conjugate gradients as a solve makes it.
#include "bench.h"
#include "solver/cg.h"

/// Conjugate gradients for A x = b, x = 0 and b random, that stop after so many iterations.
typedef struct solve {
  const bench *b;
  kg_trace_operator op;
  int64_t iterations;
} solve;

static kedge_status call_solve(void *user)
{
  const solve *s = user;
  const bench *b = s->b;
  kedge_context *ctx = b->p.ctx;
  const kg_buffer *a = b->p.buffers;
  KG_TRY(kg_zero(ctx, a[KG_ARRAY_TRACE].data, a[KG_ARRAY_TRACE].bytes));
  KG_TRY(kg_zero(ctx, a[KG_ARRAY_DIRECTION].data, a[KG_ARRAY_DIRECTION].bytes));
  KG_TRY(kg_copy(ctx, a[KG_ARRAY_RIGHT_HAND_SIDE].data, b->x.data,
                 (size_t)b->vectors.n * sizeof(double)));
  const bool patches = s->op.kind == KEDGE_OPERATOR_MATRIX_FREE;
  const kg_cg_settings settings = {.max_iterations = s->iterations,
                                   .n_elements = b->p.mesh->n_elements,
                                   .n_unknowns = b->vectors.n,
                                   .resident_work = patches ? a[KG_ARRAY_CG_RESIDENT].data : NULL};
  kg_cg_result did;
  KG_TRY(kg_cg_solve(ctx, &s->op, &b->vectors, settings, &did));
  KG_REQUIRE(ctx, did.iterations == s->iterations, KEDGE_ERR_NUMERIC,
             "conjugate gradients ended after %lld of %lld iterations: take a larger mesh",
             (long long)did.iterations, (long long)s->iterations);
  return KEDGE_OK;
}

kedge_status bench_iteration(const bench *b, kedge_operator kind, int samples, double apply_seconds,
                             double *seconds)
{
  const int64_t n = apply_seconds < 1e-4 ? 64 : 16;
  solve s = {b, {.kind = kind, .matrix_free = b->apply, .ell = b->ell}, n};
  const bench_work work = {call_solve, NULL, &s};
  double few, many;
  KG_TRY(bench_time(b->p.ctx, work, samples, &few));
  s.iterations = 3 * n;
  KG_TRY(bench_time(b->p.ctx, work, samples, &many));
  *seconds = (many - few) / (double)(2 * n);
  return KEDGE_OK;
}

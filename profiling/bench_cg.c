// Conjugate gradients, and an iteration of them, as a solve makes them.
#include "bench.h"

kedge_status bench_call_solve(void *user)
{
  bench_solve *s = user;
  const bench *b = s->b;
  kedge_context *ctx = b->p.ctx;
  const kg_buffer *a = b->p.buffers;
  const bool ell = s->kind == KEDGE_OPERATOR_ELL;
  const kg_trace_operator op = {.kind = s->kind,
                                .partial = ell ? b->ell.pass.sum.part : b->apply.pass.sum.part,
                                .matrix_free = b->apply,
                                .ell = b->ell};
  const kg_cg_settings settings = {
      .tolerance = s->tolerance,
      .max_iterations = s->most,
      .n_elements = b->p.mesh->n_elements,
      .resident_work = s->resident ? a[KG_ARRAY_CG_RESIDENT].data : NULL};
  KG_TRY(kg_zero(ctx, a[KG_ARRAY_TRACE].data, a[KG_ARRAY_TRACE].bytes));
  KG_TRY(kg_zero(ctx, a[KG_ARRAY_DIRECTION].data, a[KG_ARRAY_DIRECTION].bytes));
  KG_TRY(kg_copy(ctx, a[KG_ARRAY_RIGHT_HAND_SIDE].data, b->x.data,
                 (size_t)b->vectors.n * sizeof(double)));
  return kg_cg_solve(ctx, &op, &b->vectors, settings, &s->did);
}

/// All iterations that the solve is for, or it is no measure of them.
static kedge_status call_iterations(void *user)
{
  const bench_solve *s = user;
  KG_TRY(bench_call_solve(user));
  KG_REQUIRE(s->b->p.ctx, s->did.iterations == s->most, KEDGE_ERR_NUMERIC,
             "conjugate gradients ended after %lld of %lld iterations: take a larger mesh",
             (long long)s->did.iterations, (long long)s->most);
  return KEDGE_OK;
}

kedge_status bench_iteration(const bench *b, kedge_operator kind, int samples, double apply_seconds,
                             double *seconds)
{
  const int64_t n = apply_seconds < 1e-4 ? 64 : 16;
  bench_solve s = {.b = b, .kind = kind, .resident = kind == KEDGE_OPERATOR_MATRIX_FREE, .most = n};
  const bench_work work = {call_iterations, NULL, &s};
  double few, many;
  KG_TRY(bench_time(b->p.ctx, work, samples, &few));
  s.most = 3 * n;
  KG_TRY(bench_time(b->p.ctx, work, samples, &many));
  *seconds = (many - few) / (double)(2 * n);
  return KEDGE_OK;
}

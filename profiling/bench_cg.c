// Conjugate gradients, and an iteration of them, as a solve makes them.
#include "bench.h"

kedge_status bench_call_solve(void *user)
{
  bench_solve *s = user;
  const bench *b = s->b;
  kedge_context *ctx = b->p.ctx;
  const kg_arrays *a = &b->p.arrays;
  kg_linears linear = a->iteration.linear;
  kg_cg cg = a->iteration.method.cg;
  if (s->kind == KEDGE_OPERATOR_ELL) {
    linear.ell = (kg_ell){.base = kg_linear_of(&kg_ell_table, &b->p.space.batch, KG_DOUBLE),
                          .batch = b->p.space.batch,
                          .matrix = b->ell.matrix};
    cg.product_part = b->ell_partial.data;
  }
  cg.base.linear = &linear.base;
  cg.base.table = s->resident && cg.work ? &kg_cg_one_kernel : &kg_cg_loop;
  kg_plain_residual residual = kg_plain_residual_of(&linear.base, a->b);
  const kg_system system = {.residual = &residual.base, .krylov = &cg.base};
  const kg_system_rule rule = {.tolerance = s->tolerance, .max_iterations = s->most};
  KG_TRY(kg_zero(ctx, cg.base.x, (size_t)linear.base.all_rows * sizeof(double)));
  KG_TRY(kg_copy(ctx, a->b, b->x.data, (size_t)b->vectors.n * sizeof(double)));
  return kg_system_solve(ctx, &system, &rule, &s->did);
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

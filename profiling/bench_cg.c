// Conjugate gradients, and an iteration of them, as a solve makes them.
#include "bench.h"

kedge_status bench_call_solve(void *user)
{
  bench_solve *s = user;
  const bench *b = s->b;
  kedge_context *ctx = b->p.ctx;
  const kg_arrays *a = &b->p.arrays;
  kg_linears linear;
  if (s->kind == KEDGE_OPERATOR_ELL)
    linear.ell = (kg_ell){.base = kg_linear_of(&kg_ell_table, &b->p.space.batch, KG_DOUBLE),
                          .batch = b->p.space.batch,
                          .matrix = b->ell.matrix};
  else
    linear.patches = kg_patches_of(&(kg_trace_product_args){
        .batch = b->p.space.batch, .locals = kg_elliptic_locals(&b->p), .halo = a->halo});
  const kg_precond jacobi = kg_jacobi_of(a->inverse_diagonal);
  const kg_cg_args args = {
      .linear = &linear.base,
      .precond = &jacobi,
      .x = a->x,
      .r = a->ap,
      .p = a->p,
      .ap = a->ap,
      .z = a->z,
      .part = a->vector_part,
      .product_part = s->kind == KEDGE_OPERATOR_ELL ? b->ell_partial.data : a->operator_part,
      .state = a->state,
      .work = a->resident};
  const bool one_kernel = s->resident && args.work != NULL;
  kg_cg cg = kg_cg_of(one_kernel ? &kg_cg_one_kernel : &kg_cg_loop, &args);
  kg_plain_residual residual = kg_plain_residual_of(&linear.base, a->b);
  const kg_system system = {.residual = &residual.base, .krylov = &cg.base, .r = cg.base.r};
  const kg_system_rule rule = {.tolerance = s->tolerance, .max_iterations = s->most};
  KG_TRY(kg_zero(ctx, a->x, kg_plan_buffer(&b->p.plan, &a->x).bytes));
  KG_TRY(kg_zero(ctx, a->p, kg_plan_buffer(&b->p.plan, &a->p).bytes));
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

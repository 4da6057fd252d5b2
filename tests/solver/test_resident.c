// Conjugate gradients in one resident kernel against the ordinary loop on the same device.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef KEDGE_WITH_CUDA
#include "device/cuda_rt.h"
#endif
#include "../ops/case.h"
#include "compare.h"
#include "context.h"
#include "ops/trace/cg_resident.h"
#include "ops/trace/facet_sum.h"
#include "ops/local/triangle/local_matrices.h"
#include "linear/krylovs.h"
#include "linear/linears.h"
#include "linear/system.h"
#include "precondition/precond.h"

/// A trace system with a random right-hand side and random Dirichlet values.
typedef struct trace_system {
  op_case c;
  size_t n_rows, n_all;  ///< of free edges, of all
  double *start;         ///< x to start from, on the host
  kg_local local;        ///< device
  double *x;             ///< device
  double *b;
  kg_patches a;
  kg_precond jacobi;
  kg_cg cg;
} trace_system;

static double *random_input(op_case *c, uint64_t seed, size_t count, double scale)
{
  double *values = case_randoms(seed, count);
  for (size_t i = 0; i < count; ++i) values[i] *= scale;
  double *device = case_input(c, values, count);
  free(values);
  return device;
}

static void make_matrices(trace_system *s, kg_local local, double *inverse)
{
  op_case *c = &s->c;
  const size_t lanes = KG_LANES * (size_t)c->batch.count.n_groups;
  const double *load = random_input(c, 1, (size_t)c->size.n_modes * lanes, 0.0);
  double *condensed = case_output(c, (size_t)c->size.n_trace * lanes);
  must(ctx,
       kg_local_matrices(ctx, &(kg_local_matrices_args){.batch = c->batch,
                                                        .materials = kg_one_material(c->material),
                                                        .load = load,
                                                        .local = local,
                                                        .condensed = condensed}));
  must(ctx, kg_facet_diagonal(ctx, &(kg_facet_diagonal_args){
                                       .batch = c->batch,
                                       .locals = kg_locals_of(local, c->batch.arrays.side_edge),
                                       .inverse = inverse}));
}

static void create(trace_system *s, int n_elements, int order, enum case_boundary boundary)
{
  *s = (trace_system){0};
  op_case *c = &s->c;
  case_create(c, ctx, n_elements, order, boundary, (kg_material){0.8, 1.5, 1.0, KEDGE_SCALING_ONE});
  const kg_trace_counts *n = &c->batch.count;
  const size_t m = (size_t)c->size.n_edge, lanes = KG_LANES * (size_t)n->n_groups;
  s->n_rows = (size_t)n->n_free * m, s->n_all = (size_t)n->n_edges * m;
  s->local =
      case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE, case_output(c, (size_t)c->size.n_packed * lanes));
  double *inverse = case_output(c, s->n_rows);
  make_matrices(s, s->local, inverse);
  s->start = case_randoms(2, s->n_all);
  for (size_t i = 0; i < s->n_rows; ++i) s->start[i] = 0.0;
  s->x = case_output(c, s->n_all);
  s->b = random_input(c, 3, s->n_rows, 1.0);
  s->a = kg_patches_of(
      &(kg_trace_product_args){.batch = c->batch,
                               .locals = kg_locals_of(s->local, c->batch.arrays.side_edge),
                               .halo = case_output(c, (size_t)n->n_halo * m)});
  s->jacobi = kg_jacobi_of(&s->a.base, inverse);
  s->a.one_kernel_bytes = kg_cg_resident_bytes(ctx, c->batch.m, n);
  s->cg = (kg_cg){.base = {.linear = &s->a.base, .precond = &s->jacobi, .x = s->x},
                  .p = case_output(c, s->n_all),
                  .ap = case_output(c, s->n_rows),
                  .z = case_output(c, s->n_rows),
                  .part = case_output(c, 2 * KG_PIECES),
                  .product_part = case_output(c, (size_t)n->n_patches),
                  .states = (kg_cg_states *)case_output(c, sizeof(kg_cg_state) / 8),
                  .work_bytes = s->a.one_kernel_bytes};
  if (s->cg.work_bytes > 0) s->cg.work = case_output(c, (s->cg.work_bytes + 7) / 8);
  kg_cg_bind(&s->cg.base);
}

static void destroy(trace_system *s)
{
  kg_cg_free(ctx, &s->cg.base);
  for (const struct case_piece *p = s->c.pieces + s->c.n_lasting; p < s->c.pieces + s->c.n_pieces;
       ++p)
    free(case_fetch(&s->c, (double *)p->buffer.data + 64));
  free(s->start);
  case_destroy(&s->c);
}

/// Vectors as before a solve.
static void reset(trace_system *s)
{
  must(ctx, kg_copy_in(ctx, s->x, s->start, s->n_all * sizeof(double)));
  must(ctx, kg_zero(ctx, s->cg.p, s->n_all * sizeof(double)));
  must(ctx, kg_zero(ctx, s->cg.states, sizeof(kg_cg_state)));
  if (s->cg.work) must(ctx, kg_zero(ctx, s->cg.work, s->cg.work_bytes));
}

enum form { ORDINARY, RESIDENT };

static kedge_status run(trace_system *s, enum form form, double tolerance, int64_t most,
                        kg_system_result *result)
{
  reset(s);
  s->cg.base.table = form == RESIDENT ? &kg_cg_one_kernel : &kg_cg_loop;
  kg_plain_residual residual = kg_plain_residual_of(&s->a.base, s->b);
  const kg_system system = {.residual = &residual.base, .krylov = &s->cg.base, .keeps = true};
  const kg_system_rule rule = {.tolerance = tolerance, .max_iterations = most};
  return kg_system_solve(ctx, &system, &rule, result);
}

/// x of a solve, to be freed.
static double *solution(trace_system *s, enum form form, double tolerance, int64_t most,
                        kg_system_result *result)
{
  must(ctx, run(s, form, tolerance, most, result));
  return case_fetch(&s->c, s->x);
}

static void only_a_gpu_has_it(void **state)
{
  (void)state;
  trace_system s;
  create(&s, 33, 2, CASE_MIXED);
  const bool on_gpu = ctx->backend == KEDGE_BACKEND_CUDA;
  assert_int_equal(s.cg.work != NULL, on_gpu);
  assert_ptr_equal(kg_krylov_for(&s.a.base, &s.jacobi), on_gpu ? &kg_cg_one_kernel : &kg_cg_loop);
  destroy(&s);
}

#ifdef KEDGE_WITH_CUDA
static void a_gpu_without_cooperative_launches_does_not_have_it(void **state)
{
  (void)state;
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
  kg_cuda_state *cuda = kg_cuda(ctx);
  trace_system s;
  cuda->cooperates = false;
  create(&s, 33, 2, CASE_MIXED);
  cuda->cooperates = true;
  assert_null(s.cg.work);
  destroy(&s);
}
#endif

static void skip_without_resident_form(void)
{
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
}

static void check_agreement(trace_system *s)
{
  kg_system_result a, b;
  double *one = solution(s, RESIDENT, 1e-10, INT64_MAX, &a);
  double *other = solution(s, ORDINARY, 1e-10, INT64_MAX, &b);
  assert_true(a.converged && b.converged);
  // On a few elements the last iterations are a matter of rounding.
  if (s->n_rows > 5 * (size_t)b.iterations)
    assert_in_range(a.iterations + 1, b.iterations, b.iterations + 2);
  free(one);
  free(other);
  one = solution(s, RESIDENT, 1e-15, INT64_MAX, &a);
  other = solution(s, ORDINARY, 1e-15, INT64_MAX, &b);
  assert_close(s->n_all, one, other, 1e-12);
  free(one);
  free(other);
}

static void it_finds_the_solution_of_the_ordinary_loop_in_as_many_iterations(void **state)
{
  (void)state;
  skip_without_resident_form();
  if (test_is_quick()) skip();  // most of it is the ordinary loop
  const int sizes[] = {1, 2, 9, 10, 11, 33, 257, 1500};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= KEDGE_ORDER_MAX; order += sizes[i] > 100 ? 4 : 1) {
        trace_system s;
        create(&s, sizes[i], order, (enum case_boundary)boundary);
        if (s.n_rows > 0) check_agreement(&s);
        destroy(&s);
      }
}

static void two_solves_have_the_same_bits(void **state)
{
  (void)state;
  skip_without_resident_form();
  trace_system s;
  create(&s, 1000, 3, CASE_MIXED);
  kg_system_result a, b;
  const int64_t most = test_is_quick() ? 10 : INT64_MAX;
  double *one = solution(&s, RESIDENT, 1e-12, most, &a);
  double *other = solution(&s, RESIDENT, 1e-12, most, &b);
  assert_int_equal(a.iterations, b.iterations);
  assert_memory_equal(one, other, s.n_all * sizeof *one);
  free(one);
  free(other);
  destroy(&s);
}

/// `calls` times `steps` iterations; x, to be freed.
static double *in_pieces(trace_system *s, int calls, int64_t steps, kg_cg_state *state)
{
  reset(s);
  const kg_cg *cg = &s->cg;
  kg_plain_residual residual = kg_plain_residual_of(&s->a.base, s->b);
  must(ctx, residual.base.make(ctx, &residual.base, s->x, cg->r, cg->base.sum));
  must(ctx, kg_cg_begin(ctx, &cg->v));
  must(ctx, kg_copy_out(ctx, state, cg->v.state, sizeof *state));
  state->target = 0.0;
  state->max_iterations = INT64_MAX;
  must(ctx, kg_copy_in(ctx, cg->v.state, state, sizeof *state));
  const kg_cg_resident_args args = {
      .batch = s->c.batch, .local = s->local, .vectors = cg->v, .work = cg->work, .steps = steps};
  for (int i = 0; i < calls; ++i) must(ctx, kg_cg_resident(ctx, &args));
  must(ctx, kg_copy_out(ctx, state, cg->v.state, sizeof *state));
  must(ctx, kg_sync(ctx));
  return case_fetch(&s->c, s->x);
}

static void a_kernel_goes_on_where_the_last_one_ended(void **state)
{
  (void)state;
  skip_without_resident_form();
  trace_system s;
  create(&s, 300, 4, CASE_MIXED);
  kg_cg_state a, b;
  double *one = in_pieces(&s, 1, 12, &a), *other = in_pieces(&s, 4, 3, &b);
  assert_int_equal(a.iterations, 12);
  assert_int_equal(b.iterations, 12);
  assert_at_most(fabs(a.rr - b.rr), rounding(1000.0) * a.rr);
  assert_close(s.n_all, one, other, rounding(1000.0));
  free(one);
  free(other);
  destroy(&s);
}

static void it_stops_at_the_limit_of_iterations(void **state)
{
  (void)state;
  skip_without_resident_form();
  trace_system s;
  create(&s, 257, 3, CASE_MIXED);
  kg_system_result a, b;
  double *one = solution(&s, RESIDENT, 1e-12, 7, &a), *other = solution(&s, ORDINARY, 1e-12, 7, &b);
  assert_int_equal(a.iterations, 7);
  assert_false(a.converged);
  assert_int_equal(a.stop, KEDGE_STOP_LIMIT);
  assert_close(s.n_all, one, other, rounding(1000.0));
  free(one);
  free(other);
  destroy(&s);
}

/// K^e times a factor.
static void scale_matrices(trace_system *s, double factor)
{
  const size_t n = (size_t)s->c.size.n_packed * KG_LANES * (size_t)s->c.batch.count.n_groups;
  double *local = case_fetch(&s->c, s->local.data);
  for (size_t i = 0; i < n; ++i) local[i] *= factor;
  must(ctx, kg_copy_in(ctx, s->local.data, local, n * sizeof *local));
  free(local);
  for (size_t i = 0; i < s->n_all; ++i) s->start[i] = 0.0;  // the start sees no overflow
}

static void a_negative_operator_and_overflow_are_numeric_failures(void **state)
{
  (void)state;
  skip_without_resident_form();
  trace_system s;
  create(&s, 257, 2, CASE_MIXED);
  kg_system_result result;
  scale_matrices(&s, -1.0);
  assert_int_equal(run(&s, RESIDENT, 1e-12, 100, &result), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(ctx), "not positive definite"));
  assert_non_null(strstr(kedge_context_error(ctx), "in iteration 1)"));
  scale_matrices(&s, -1e306);
  s.b = random_input(&s.c, 4, s.n_rows, 1e10);
  assert_int_equal(run(&s, RESIDENT, 1e-12, 100, &result), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(ctx), "met NaN or infinity after 0 iterations"));
  destroy(&s);
}

static void an_inverse_diagonal_that_is_not_finite_is_a_numeric_failure(void **state)
{
  (void)state;
  skip_without_resident_form();
  trace_system s;
  create(&s, 257, 2, CASE_MIXED);
  const double infinite = INFINITY;
  must(ctx, kg_copy_in(ctx, (double *)s.jacobi.inverse + 5, &infinite, sizeof infinite));
  kg_system_result result;
  assert_int_equal(run(&s, RESIDENT, 1e-12, 100, &result), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(ctx), "the diagonal of the trace operator is not"));
  destroy(&s);
}

/// Most elements that have a resident form at an order.
static int32_t most_elements(int order)
{
  kg_trace_counts count = {.n_interior = 1000};
  int32_t good = 0, bad = 1 << 24;
  while (bad - good > 1) {
    count.n_elements = good + (bad - good) / 2;
    if (kg_cg_resident_bytes(ctx, order + 1, &count) > 0)
      good = count.n_elements;
    else
      bad = count.n_elements;
  }
  return good;
}

static void the_largest_that_fit_agree_too(void **state)
{
  (void)state;
  skip_without_resident_form();
  if (test_is_quick()) skip();
  for (int order = 1; order <= KEDGE_ORDER_MAX; ++order) {
    trace_system s;
    const int32_t n = most_elements(order);
    assert_in_range(n, 1000, 100000);
    create(&s, n, order, CASE_MIXED);
    kg_system_result a, b;
    double *one = solution(&s, RESIDENT, 1e-15, 10, &a);
    double *other = solution(&s, ORDINARY, 1e-15, 10, &b);
    assert_int_equal(a.iterations, b.iterations);
    assert_close(s.n_all, one, other, 1e-12);
    free(one);
    free(other);
    destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_a_gpu_has_it),
#ifdef KEDGE_WITH_CUDA
      cmocka_unit_test(a_gpu_without_cooperative_launches_does_not_have_it),
#endif
      cmocka_unit_test(it_finds_the_solution_of_the_ordinary_loop_in_as_many_iterations),
      cmocka_unit_test(two_solves_have_the_same_bits),
      cmocka_unit_test(a_kernel_goes_on_where_the_last_one_ended),
      cmocka_unit_test(it_stops_at_the_limit_of_iterations),
      cmocka_unit_test(a_negative_operator_and_overflow_are_numeric_failures),
      cmocka_unit_test(an_inverse_diagonal_that_is_not_finite_is_a_numeric_failure),
      cmocka_unit_test(the_largest_that_fit_agree_too),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

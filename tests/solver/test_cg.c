// Conjugate gradients on systems small enough to write down.
#include <math.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "linear/krylovs.h"
#include "linear/linears.h"
#include "linear/system.h"
#include "precondition/precond.h"
#include "support.h"

// A row of the ELL matrix has room for five blocks; these are 1 x 1, and four are missing.
enum { N = 3, STRIDE = 32, WIDTH = 5 };

/// A diagonal matrix as ELL, and the vectors of a solve, in device memory.
typedef struct system_of_three {
  kg_buffer column, value, b, inverse;
  kg_plan plan;
  kg_ell a;
  kg_precond jacobi;
  kg_cg cg;
} system_of_three;

static void create(system_of_three *s, const double diagonal[N], const double b[N])
{
  int32_t column[WIDTH * STRIDE];
  double value[WIDTH * STRIDE] = {0}, ones[N];
  for (int i = 0; i < WIDTH * STRIDE; ++i) column[i] = i < N ? i : -1;
  for (int i = 0; i < N; ++i) value[i] = diagonal[i];
  for (int i = 0; i < N; ++i) ones[i] = 1.0;
  must(ctx, kg_upload(ctx, column, WIDTH * STRIDE, sizeof *column, &s->column));
  must(ctx, kg_upload(ctx, value, WIDTH * STRIDE, sizeof *value, &s->value));
  must(ctx, kg_upload(ctx, ones, N, sizeof *ones, &s->inverse));
  must(ctx, kg_upload(ctx, b, N, sizeof *b, &s->b));
  s->a = (kg_ell){.base = {.table = &kg_ell_table,
                           .n_rhs = 1,
                           .symmetric = true,
                           .rows = N,
                           .all_rows = N,
                           .n_parts = KG_PIECES},
                  .matrix = {N, STRIDE, WIDTH, s->column.data, s->value.data}};
  s->jacobi = kg_jacobi_of(&s->a.base, s->inverse.data);
  s->plan = (kg_plan){0};
  s->cg = (kg_cg){.base = {.table = &kg_cg_loop, .linear = &s->a.base, .precond = &s->jacobi}};
  kg_cg_loop.declare(&s->plan, &s->cg.base);
  kg_plan_place(&s->plan);
  must(ctx, kg_plan_commit(ctx, &s->plan));
  kg_cg_loop.bind(&s->cg.base);
  must(ctx, kg_zero(ctx, s->cg.base.x, N * sizeof(double)));
}

static void destroy(system_of_three *s)
{
  kg_buffer *const all[] = {&s->column, &s->value, &s->b, &s->inverse};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) kg_free(ctx, all[i]);
  kg_plan_free(ctx, &s->plan);
  must(ctx, kg_sync(ctx));
}

static kedge_status solve_three(system_of_three *s, kg_system_result *result)
{
  kg_plain_residual residual = kg_plain_residual_of(&s->a.base, s->b.data);
  const kg_system system = {.residual = &residual.base, .krylov = &s->cg.base};
  const kg_system_rule rule = {.tolerance = 1e-12, .max_iterations = 100};
  return kg_system_solve(ctx, &system, &rule, result);
}

/// A solve has to fail with these words.
static void assert_numeric_failure(system_of_three *s, const char *says)
{
  kg_system_result result;
  assert_int_equal(solve_three(s, &result), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(ctx), says));
}

static void n_distinct_eigenvalues_take_n_iterations(void **state)
{
  (void)state;
  system_of_three s;
  create(&s, (const double[]){1.0, 2.0, 4.0}, (const double[]){1.0, 1.0, 1.0});
  kg_system_result result;
  must(ctx, solve_three(&s, &result));
  assert_true(result.converged);
  assert_int_equal(result.iterations, N);
  assert_int_equal(result.residuals, 2);
  assert_int_equal(result.roundings, 0);
  double x[N];
  must(ctx, kg_copy_out(ctx, x, s.cg.base.x, sizeof x));
  assert_close(N, x, ((const double[]){1.0, 0.5, 0.25}), rounding(N));
  destroy(&s);
}

static void a_negative_eigenvalue_is_a_numeric_failure(void **state)
{
  (void)state;
  system_of_three s;
  create(&s, (const double[]){1.0, -2.0, 0.5}, (const double[]){1.0, 1.0, 1.0});
  assert_numeric_failure(&s, "not positive definite (p.Ap = -0.5 in iteration 1)");
  destroy(&s);
}

static void an_inverse_diagonal_that_is_not_finite_is_a_numeric_failure(void **state)
{
  (void)state;
  system_of_three s;
  create(&s, (const double[]){1.0, 2.0, 0.5}, (const double[]){1.0, 1.0, 1.0});
  must(ctx,
       kg_copy_in(ctx, s.inverse.data, (const double[N]){1.0, INFINITY, 1.0}, N * sizeof(double)));
  assert_numeric_failure(&s,
                         "the diagonal of the trace operator is not positive in double "
                         "precision: check the mesh");
  destroy(&s);
}

static void a_product_that_is_nan_is_a_numeric_failure(void **state)
{
  (void)state;
  system_of_three s;
  // The start multiplies x = 0 and sees no overflow; the first direction does.
  create(&s, (const double[]){1e200, 1.0, 1.0}, (const double[]){1e150, 1.0, 1.0});
  assert_numeric_failure(&s, "met NaN or infinity after 0 iterations");
  destroy(&s);
}

static const kg_backend_table *true_table;
static void *spoiled;

/// Iterations, and then an x that the recurrence does not know of.
static kedge_status spoil_x(kedge_context *context, kg_repeat *repeat, int times,
                            kg_repeat_body *body, void *user)
{
  const double nan = NAN;
  KG_TRY(true_table->repeat(context, repeat, times, body, user));
  return kg_copy_in(context, spoiled, &nan, sizeof nan);
}

static int nudges;

/// Iterations, and then an x beside that of the recurrence: less and less, at last not.
static kedge_status nudge_x(kedge_context *context, kg_repeat *repeat, int times,
                            kg_repeat_body *body, void *user)
{
  static const double by[] = {1e-3, 1e-6};
  double first;
  KG_TRY(true_table->repeat(context, repeat, times, body, user));
  if (nudges == 2) return KEDGE_OK;
  KG_TRY(kg_copy_out(context, &first, spoiled, sizeof first));
  KG_TRY(kg_sync(context));
  first += by[nudges++];
  return kg_copy_in(context, spoiled, &first, sizeof first);
}

/// At the start, after each of three runs, and once more where measuring rounding has taken its
/// vectors as work.
static void a_restart_goes_on_from_the_residual_that_asked_for_it(void **state)
{
  (void)state;
  system_of_three s;
  create(&s, (const double[]){1.0, 2.0, 4.0}, (const double[]){1.0, 1.0, 1.0});
  true_table = ctx->table;
  kg_backend_table nudging = *true_table;
  nudging.repeat = nudge_x;
  spoiled = s.cg.base.x;
  nudges = 0;
  ctx->table = &nudging;
  kg_system_result result;
  const kedge_status status = solve_three(&s, &result);
  ctx->table = true_table;
  must(ctx, status);
  assert_true(result.converged);
  assert_int_equal(result.starts, 3);
  assert_int_equal(result.roundings, 1);
  assert_int_equal(result.residuals, 5);
  destroy(&s);
}

static void a_recomputed_residual_that_is_nan_is_a_numeric_failure(void **state)
{
  (void)state;
  system_of_three s;
  create(&s, (const double[]){1.0, 2.0, 4.0}, (const double[]){1.0, 1.0, 1.0});
  true_table = ctx->table;
  kg_backend_table spoiling = *true_table;
  spoiling.repeat = spoil_x;
  spoiled = s.cg.base.x;
  ctx->table = &spoiling;
  kg_system_result result;
  const kedge_status status = solve_three(&s, &result);
  ctx->table = true_table;
  assert_int_equal(status, KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(ctx),
                         "the residual recomputed after 3 iterations is NaN or infinity"));
  destroy(&s);
}

static void steps_wait_on_the_device_until_there_is_no_room_for_more(void **state)
{
  (void)state;
  enum { FIRST = 1000, LAST = 1090 };  // around the end of the ring
  kg_cg_step steps[KG_CG_STEPS] = {{0}};
  kg_buffer device;
  kg_lanczos l = {0};
  for (int64_t i = FIRST; i < LAST; ++i)
    steps[i % KG_CG_STEPS] = (kg_cg_step){.p_ap = (double)i, .rz = 1.0, .rr = 1.0};
  must(ctx, kg_upload(ctx, steps, KG_CG_STEPS, sizeof *steps, &device));
  l.first = FIRST;
  must(ctx, kg_lanczos_spare(ctx, &l, device.data, LAST, KG_CG_STEPS - (LAST - FIRST)));
  assert_int_equal(l.n, 0);
  must(ctx, kg_lanczos_spare(ctx, &l, device.data, LAST, KG_CG_STEPS - (LAST - FIRST) + 1));
  assert_int_equal(l.n, LAST - FIRST);
  for (int64_t i = FIRST; i < LAST; ++i) assert_true(l.step[i - FIRST].p_ap == (double)i);
  must(ctx, kg_lanczos_take(ctx, &l, device.data, LAST));
  assert_int_equal(l.n, LAST - FIRST);
  kg_lanczos_free(&l);
  kg_free(ctx, &device);
  must(ctx, kg_sync(ctx));
}

static void systems_that_are_not_symmetric_have_no_method(void **state)
{
  (void)state;
  kg_linear a = {.n_rhs = 1, .symmetric = true};
  kg_precond m = {.linear = &a, .symmetric = true};
  assert_ptr_equal(kg_krylov_for(&a, &m), &kg_cg_loop);
  m.symmetric = false;
  assert_null(kg_krylov_for(&a, &m));
  m.symmetric = true;
  a.symmetric = false;
  assert_null(kg_krylov_for(&a, &m));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(n_distinct_eigenvalues_take_n_iterations),
      cmocka_unit_test(steps_wait_on_the_device_until_there_is_no_room_for_more),
      cmocka_unit_test(systems_that_are_not_symmetric_have_no_method),
      cmocka_unit_test(a_negative_eigenvalue_is_a_numeric_failure),
      cmocka_unit_test(an_inverse_diagonal_that_is_not_finite_is_a_numeric_failure),
      cmocka_unit_test(a_product_that_is_nan_is_a_numeric_failure),
      cmocka_unit_test(a_restart_goes_on_from_the_residual_that_asked_for_it),
      cmocka_unit_test(a_recomputed_residual_that_is_nan_is_a_numeric_failure),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// What rounding x makes of a product: the changes, and the sum of squares.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "ops/vector/rounding.h"

/// The vectors of a case with n rows.
static kg_rounding_args vectors(op_case *c, const double *x, size_t n)
{
  return (kg_rounding_args){.n = (int64_t)n,
                            .x = case_input(c, x, n),
                            .p = case_output(c, n),
                            .ap = case_input(c, x, n),
                            .part = case_output(c, KG_PIECES),
                            .total = case_output(c, 1)};
}

static void numbers_change_by_at_most_the_unit_roundoff(void **state)
{
  (void)state;
  enum { N = 5000 };
  double *x = case_randoms(1, N);
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  const kg_rounding_args v = vectors(&c, x, N);
  must(ctx, kg_rounding_perturb(ctx, &v));
  double *change = case_fetch(&c, v.p), squares = 0.0;
  for (int i = 0; i < N; ++i) {
    assert_true(fabs(change[i]) <= 0.5 * DBL_EPSILON * fabs(x[i]));
    squares += pow(change[i] / (0.5 * DBL_EPSILON * x[i]), 2.0);
  }
  // Uniform in [-1, 1): the mean square is 1/3.
  assert_at_most(fabs(squares / N - 1.0 / 3.0), 3.0 / sqrt(N));
  free(change);
  free(x);
  case_destroy(&c);
}

static void the_sum_is_that_of_the_squares(void **state)
{
  (void)state;
  const size_t sizes[] = {0, 1, 2, 511, 513, 1025, 300001};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    const size_t n = sizes[k];
    double *x = case_randoms(k, n), sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += x[i] * x[i];
    op_case c;
    case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
    const kg_rounding_args v = vectors(&c, x, n);
    double found[2];
    for (int run = 0; run < 2; ++run) {
      must(ctx, kg_rounding_sum(ctx, &v));
      must(ctx, kg_copy_out(ctx, &found[run], v.total, sizeof *found));
      must(ctx, kg_sync(ctx));
    }
    assert_true(found[0] == found[1]);
    assert_close(1, found, &sum, rounding((double)n));
    free(x);
    case_destroy(&c);
  }
}

/// The vectors of an iteration in single precision hold 2^exponent times the numbers.
static void an_iteration_in_single_precision_gets_both_scaled(void **state)
{
  (void)state;
  enum { N = 5001, EXPONENT = 7 };
  const int32_t exponent = EXPONENT;
  double *x = case_randoms(1, N), squares = 0.0;
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  double *p = case_output(&c, (N + 1) / 2);
  const kg_rounding_args v = {.n = N,
                              .x = case_input(&c, x, N),
                              .number = KG_SINGLE,
                              .p = p,
                              .ap = p,
                              .exponent = case_upload(&c, &exponent, 1, sizeof exponent),
                              .part = case_output(&c, KG_PIECES),
                              .total = case_output(&c, 1)};
  must(ctx, kg_rounding_perturb(ctx, &v));
  double *found = case_fetch(&c, p);
  const float *change = (const float *)found;
  for (int i = 0; i < N; ++i) {
    const double expected = ldexp(kg_rounding_of(x[i], i), EXPONENT);
    assert_at_most(fabs(change[i] - expected), FLT_EPSILON * fabs(expected));
    squares += (double)change[i] * change[i];
  }
  must(ctx, kg_rounding_sum(ctx, &v));
  double after;
  must(ctx, kg_copy_out(ctx, &after, v.total, sizeof after));
  squares = ldexp(squares, -2 * EXPONENT);
  assert_close(1, &after, &squares, rounding(N));
  free(found);
  free(x);
  case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_change_by_at_most_the_unit_roundoff),
      cmocka_unit_test(the_sum_is_that_of_the_squares),
      cmocka_unit_test(an_iteration_in_single_precision_gets_both_scaled),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

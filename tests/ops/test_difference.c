// Residuals made of products, with rows that are open and without.
#include <math.h>
#include <stdlib.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "ops/vector/difference.h"

/// r = b - A x or -A x, and the sum of squares, twice with the same bits.
static void check(size_t n, bool has_b, kg_open open)
{
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  double *b = case_randoms(1, n), *ax = case_randoms(2, n), *halo = case_randoms(3, n);
  double *found[2], *sum[2];
  open.halo = case_input(&c, halo, n);
  for (int i = 0; i < 2; ++i) {
    const kg_difference_args args = {.n = (int64_t)n,
                                     .b = has_b ? case_input(&c, b, n) : NULL,
                                     .r = case_input(&c, ax, n),
                                     .open = open,
                                     .sum = {case_output(&c, KG_PIECES), case_output(&c, 1), NULL}};
    must(ctx, kg_difference(ctx, &args));
    found[i] = case_fetch(&c, args.r);
    sum[i] = case_fetch(&c, args.sum.total);
  }
  double squares = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = (int64_t)i - open.first;
    const double closed = ax[i] + (at >= 0 && at < open.n ? halo[at] : 0.0);
    assert_true(found[0][i] == (has_b ? b[i] : 0.0) - closed);
    assert_true(found[1][i] == found[0][i]);
    squares += found[0][i] * found[0][i];
  }
  assert_close(1, sum[0], &squares, rounding((double)n));
  assert_memory_equal(sum[0], sum[1], sizeof **sum);
  for (int i = 0; i < 2; ++i) free(found[i]), free(sum[i]);
  free(b), free(ax), free(halo);
  case_destroy(&c);
}

/// Sizes about blocks; no open row, some that begin and end inside a pair, all.
static void check_all(bool has_b)
{
  const size_t sizes[] = {0, 1, 2, 511, 1023, 1025, 5003};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    const int64_t n = (int64_t)sizes[k];
    check(sizes[k], has_b, (kg_open){0});
    check(sizes[k], has_b, (kg_open){.first = n / 4 * 2 + 1, .n = n / 3});
    check(sizes[k], has_b, (kg_open){.first = 0, .n = n});
  }
}

static void the_residual_is_the_right_hand_side_without_the_closed_product(void **state)
{
  (void)state;
  check_all(true);
}

static void without_a_right_hand_side_the_residual_is_what_the_product_left(void **state)
{
  (void)state;
  check_all(false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_residual_is_the_right_hand_side_without_the_closed_product),
      cmocka_unit_test(without_a_right_hand_side_the_residual_is_what_the_product_left),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

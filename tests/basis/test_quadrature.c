// Gauss rules against moments in closed form.
#include "basis/quadrature.h"
#include "compare.h"
#include "kedge/base.h"

enum { POINTS_MAX = KEDGE_ORDER_MAX + 5, DEGREE_MAX = 2 * KEDGE_ORDER_MAX + 8 };

/// Integral over [-1,1] of ((1+x)/2)^k (1-x)^alpha.
static double line_moment(int k, int alpha)
{
  return alpha == 0 ? 2.0 / (k + 1) : 4.0 / ((k + 1.0) * (k + 2.0));
}

static void gauss_rules_integrate_degree_2n_minus_1(void **state)
{
  (void)state;
  double x[POINTS_MAX], w[POINTS_MAX];
  for (int n = 1; n <= POINTS_MAX; ++n)
    for (int alpha = 0; alpha <= 1; ++alpha) {
      kg_gauss_jacobi(n, alpha, x, w);
      for (int k = 0; k < 2 * n; ++k) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += w[i] * pow(0.5 * (1.0 + x[i]), k);
        const double exact = line_moment(k, alpha);
        assert_close(1, &sum, &exact, rounding(n) * n);
      }
    }
}

static void gauss_rules_fail_at_degree_2n(void **state)
{
  (void)state;
  double x[POINTS_MAX], w[POINTS_MAX];
  for (int n = 1; n <= 5; ++n) {
    kg_gauss_jacobi(n, 0, x, w);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += w[i] * pow(0.5 * (1.0 + x[i]), 2 * n);
    assert_true(fabs(sum - line_moment(2 * n, 0)) > 1e-9);
  }
}

static void gauss_points_increase_inside_the_interval_with_positive_weights(void **state)
{
  (void)state;
  double x[POINTS_MAX], w[POINTS_MAX];
  for (int n = 1; n <= POINTS_MAX; ++n)
    for (int alpha = 0; alpha <= 1; ++alpha) {
      kg_gauss_jacobi(n, alpha, x, w);
      for (int i = 0; i < n; ++i) {
        assert_true(x[i] > (i > 0 ? x[i - 1] : -1.0) && x[i] < 1.0);
        assert_true(w[i] > 0.0);
      }
    }
}

/// Integral over the reference triangle of ((1+r)/2)^a ((1+s)/2)^b: 4 a! b! / (a+b+2)!.
static double triangle_moment(int a, int b)
{
  return 4.0 * exp(lgamma(a + 1.0) + lgamma(b + 1.0) - lgamma(a + b + 3.0));
}

static void triangle_rules_integrate_every_monomial_of_their_degree(void **state)
{
  (void)state;
  for (int degree = 0; degree <= DEGREE_MAX; ++degree) {
    kg_triangle_rule rule;
    assert_int_equal(kg_triangle_rule_create(NULL, degree, &rule), KEDGE_OK);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b) {
        double sum = 0.0;
        for (int q = 0; q < rule.n; ++q)
          sum += rule.w[q] * pow(0.5 * (1.0 + rule.r[q]), a) * pow(0.5 * (1.0 + rule.s[q]), b);
        const double exact = triangle_moment(a, b);
        // lgamma() loses digits as its value grows: up to about 70 for the highest degree.
        assert_close(1, &sum, &exact, rounding(rule.n) * (degree + 4));
      }
    kg_triangle_rule_free(&rule);
  }
}

static void triangle_points_lie_inside_with_positive_weights_of_sum_2(void **state)
{
  (void)state;
  for (int degree = 0; degree <= DEGREE_MAX; ++degree) {
    kg_triangle_rule rule;
    assert_int_equal(kg_triangle_rule_create(NULL, degree, &rule), KEDGE_OK);
    double sum = 0.0;
    for (int q = 0; q < rule.n; ++q) {
      assert_true(rule.r[q] > -1.0 && rule.s[q] > -1.0 && rule.r[q] + rule.s[q] < 0.0);
      assert_true(rule.w[q] > 0.0);
      sum += rule.w[q];
    }
    assert_at_most(fabs(sum - 2.0), 2.0 * rounding(rule.n));
    kg_triangle_rule_free(&rule);
    assert_null(rule.r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gauss_rules_integrate_degree_2n_minus_1),
      cmocka_unit_test(gauss_rules_fail_at_degree_2n),
      cmocka_unit_test(gauss_points_increase_inside_the_interval_with_positive_weights),
      cmocka_unit_test(triangle_rules_integrate_every_monomial_of_their_degree),
      cmocka_unit_test(triangle_points_lie_inside_with_positive_weights_of_sum_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

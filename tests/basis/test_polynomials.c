// Orthonormality and gradients of the bases, for all orders that the library uses.
#include <stdlib.h>

#include "basis/edge_place.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"
#include "kedge/base.h"

enum { ORDER = KEDGE_ORDER_MAX + 1, MODES = (ORDER + 1) * (ORDER + 2) / 2 };

static void legendre_modes_are_orthonormal(void **state)
{
  (void)state;
  double t[ORDER + 1], w[ORDER + 1], psi[ORDER + 1][ORDER + 1];
  kg_gauss_jacobi(ORDER + 1, 0, t, w);
  for (int q = 0; q <= ORDER; ++q) kg_legendre(ORDER, t[q], psi[q]);
  for (int i = 0; i <= ORDER; ++i)
    for (int j = 0; j <= ORDER; ++j) {
      double sum = 0.0;
      for (int q = 0; q <= ORDER; ++q) sum += w[q] * psi[q][i] * psi[q][j];
      assert_at_most(fabs(sum - (i == j)), rounding(ORDER) * (ORDER + 1));
    }
}

static void odd_legendre_modes_and_no_others_change_sign_with_direction(void **state)
{
  (void)state;
  double forth[ORDER + 1], back[ORDER + 1];
  for (double t = -1.0; t <= 1.0; t += 0.125) {
    kg_legendre(ORDER, t, forth);
    kg_legendre(ORDER, -t, back);
    for (int k = 0; k <= ORDER; ++k) assert_true(back[k] == (k % 2 ? -forth[k] : forth[k]));
  }
}

static void dubiner_modes_are_orthonormal(void **state)
{
  (void)state;
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * ORDER, &rule), KEDGE_OK);
  static double gram[MODES][MODES];
  double phi[MODES];
  for (int q = 0; q < rule.n; ++q) {
    kg_dubiner(ORDER, rule.r[q], rule.s[q], phi, NULL, NULL);
    for (int i = 0; i < MODES; ++i)
      for (int j = 0; j < MODES; ++j) gram[i][j] += rule.w[q] * phi[i] * phi[j];
  }
  for (int i = 0; i < MODES; ++i)
    for (int j = 0; j < MODES; ++j)
      assert_at_most(fabs(gram[i][j] - (i == j)), rounding(rule.n) * (ORDER + 1));
  kg_triangle_rule_free(&rule);
}

static void a_basis_begins_with_the_basis_of_the_order_below(void **state)
{
  (void)state;
  double low[3][MODES], high[3][MODES];
  for (int order = 0; order < ORDER; ++order) {
    kg_dubiner(order, -0.3, -0.2, low[0], low[1], low[2]);
    kg_dubiner(order + 1, -0.3, -0.2, high[0], high[1], high[2]);
    for (int k = 0; k < 3; ++k)
      assert_memory_equal(low[k], high[k], (size_t)kg_triangle_modes(order) * sizeof(double));
  }
}

/// Points inside, on edges and at all three vertices.
static const double points[][2] = {{-1.0, -1.0}, {1.0, -1.0}, {-1.0, 1.0},  {0.0, 0.0},
                                   {-1.0, 0.25}, {0.5, -1.0}, {-0.3, -0.4}, {-0.9, 0.7}};
enum { POINTS = sizeof points / sizeof *points };

/// x^k and its derivative; 0^0 = 1.
static double power(double x, int k)
{
  return k == 0 ? 1.0 : pow(x, k);
}
static double power_slope(double x, int k)
{
  return k == 0 ? 0.0 : k * power(x, k - 1);
}

/// Coefficients of r^a s^b by quadrature.
static void expand_monomial(const kg_triangle_rule *rule, int order, int a, int b, double *c)
{
  double phi[MODES];
  const int n = kg_triangle_modes(order);
  for (int i = 0; i < n; ++i) c[i] = 0.0;
  for (int q = 0; q < rule->n; ++q) {
    const double f = rule->w[q] * power(rule->r[q], a) * power(rule->s[q], b);
    kg_dubiner(order, rule->r[q], rule->s[q], phi, NULL, NULL);
    for (int i = 0; i < n; ++i) c[i] += f * phi[i];
  }
}

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static void check_monomial(const kg_triangle_rule *rule, int order, int a, int b)
{
  double c[MODES], phi[MODES], by_r[MODES], by_s[MODES];
  const int n = kg_triangle_modes(order);
  expand_monomial(rule, order, a, b, c);
  for (int k = 0; k < POINTS; ++k) {
    const double r = points[k][0], s = points[k][1];
    kg_dubiner(order, r, s, phi, by_r, by_s);
    // Modes are at most sqrt(N) large, their derivatives P^2 times that (Markov).
    const double size = rounding(rule->n) * n, slope = size * (order + 1) * (order + 1);
    assert_at_most(fabs(dot(n, c, phi) - power(r, a) * power(s, b)), size);
    assert_at_most(fabs(dot(n, c, by_r) - power_slope(r, a) * power(s, b)), slope);
    assert_at_most(fabs(dot(n, c, by_s) - power(r, a) * power_slope(s, b)), slope);
  }
}

static void monomials_and_their_gradients_are_represented_exactly_vertices_included(void **state)
{
  (void)state;
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * ORDER, &rule), KEDGE_OK);
  for (int a = 0; a <= ORDER; ++a)
    for (int b = 0; a + b <= ORDER; ++b) check_monomial(&rule, a + b > 0 ? a + b : 1, a, b);
  kg_triangle_rule_free(&rule);
}

static void gradients_are_the_limits_of_differences(void **state)
{
  (void)state;
  const double h = cbrt(DBL_EPSILON);
  double by_r[MODES], by_s[MODES], phi[MODES], values[4][MODES];
  const double r = -0.4, s = -0.1;  // a circle of radius 0.5 around it lies inside
  kg_dubiner(ORDER, r, s, phi, by_r, by_s);
  const double step[4][2] = {{h, 0}, {-h, 0}, {0, h}, {0, -h}};
  for (int k = 0; k < 4; ++k)
    kg_dubiner(ORDER, r + step[k][0], s + step[k][1], values[k], NULL, NULL);
  // |f'''| <= P^6 / 0.5^3 max |f| (Bernstein and Markov), and max |f| <= N.
  const double bound = h * h / 6.0 * pow(ORDER, 6) * 8.0 * MODES;
  for (int i = 0; i < MODES; ++i) {
    assert_at_most(fabs((values[0][i] - values[1][i]) / (2.0 * h) - by_r[i]), bound);
    assert_at_most(fabs((values[2][i] - values[3][i]) / (2.0 * h) - by_s[i]), bound);
  }
}

/// Integral of a mode over local edge l in the edge's own parameter.
static void integrate_over_edge(int l, double *integral)
{
  double t[ORDER + 1], w[ORDER + 1], phi[MODES], r, s;
  kg_gauss_jacobi(ORDER + 1, 0, t, w);
  for (int i = 0; i < MODES; ++i) integral[i] = 0.0;
  for (int q = 0; q <= ORDER; ++q) {
    place_on_edge(l, t[q], &r, &s);
    kg_dubiner(ORDER, r, s, phi, NULL, NULL);
    for (int i = 0; i < MODES; ++i) integral[i] += w[q] * phi[i];
  }
}

static void gradients_obey_the_divergence_theorem(void **state)
{
  (void)state;
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, ORDER, &rule), KEDGE_OK);
  double edge[3][MODES], sum_r[MODES] = {0}, sum_s[MODES] = {0};
  double phi[MODES], by_r[MODES], by_s[MODES];
  for (int l = 0; l < 3; ++l) integrate_over_edge(l, edge[l]);
  for (int q = 0; q < rule.n; ++q) {
    kg_dubiner(ORDER, rule.r[q], rule.s[q], phi, by_r, by_s);
    for (int i = 0; i < MODES; ++i) {
      sum_r[i] += rule.w[q] * by_r[i];
      sum_s[i] += rule.w[q] * by_s[i];
    }
  }
  // Normal times length element: (0,-1), (1,1), (-1,0).
  for (int i = 0; i < MODES; ++i) {
    assert_at_most(fabs(sum_r[i] - (edge[1][i] - edge[2][i])), rounding(rule.n) * MODES);
    assert_at_most(fabs(sum_s[i] - (edge[1][i] - edge[0][i])), rounding(rule.n) * MODES);
  }
  kg_triangle_rule_free(&rule);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(legendre_modes_are_orthonormal),
      cmocka_unit_test(odd_legendre_modes_and_no_others_change_sign_with_direction),
      cmocka_unit_test(dubiner_modes_are_orthonormal),
      cmocka_unit_test(a_basis_begins_with_the_basis_of_the_order_below),
      cmocka_unit_test(monomials_and_their_gradients_are_represented_exactly_vertices_included),
      cmocka_unit_test(gradients_are_the_limits_of_differences),
      cmocka_unit_test(gradients_obey_the_divergence_theorem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Tetrahedra: u, q and u* of the local solve; polynomials come back.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "space_case.h"

enum { TENSORS = 4 };

/// A polynomial and its equation.
typedef struct polynomial {
  int degree;
  double coefficient[KG_SPACE_ORDER_MAX + 1][KG_SPACE_ORDER_MAX + 1][KG_SPACE_ORDER_MAX + 1];
  double origin[3];
  space_element element;
} polynomial;

/// x^i, or its derivatives.
static long double power(long double x, int i, int derivative)
{
  long double value = 1.0L;
  for (; derivative > 0; --derivative) value *= i--;
  for (; i > 0; --i) value *= x;
  return value;
}

/// p, its gradient, and f = -div K grad p + c p.
static void polynomial_at(const void *context, const long double at[3], long double *value)
{
  const polynomial *p = context;
  const long double x = at[0] - p->origin[0], y = at[1] - p->origin[1], z = at[2] - p->origin[2];
  const double *const k = p->element.diffusion;
  static const int second[6][3] = {{2, 0, 0}, {1, 1, 0}, {1, 0, 1},
                                   {0, 2, 0}, {0, 1, 1}, {0, 0, 2}};
  for (int v = 0; v < 5; ++v) value[v] = 0.0L;
  for (int i = 0; i <= p->degree; ++i)
    for (int j = 0; i + j <= p->degree; ++j)
      for (int l = 0; i + j + l <= p->degree; ++l) {
        const long double c = p->coefficient[i][j][l];
        value[0] += c * power(x, i, 0) * power(y, j, 0) * power(z, l, 0);
        value[1] += c * power(x, i, 1) * power(y, j, 0) * power(z, l, 0);
        value[2] += c * power(x, i, 0) * power(y, j, 1) * power(z, l, 0);
        value[3] += c * power(x, i, 0) * power(y, j, 0) * power(z, l, 1);
        for (int d = 0; d < 6; ++d)
          value[4] -= (d == 0 || d == 3 || d == 5 ? 1.0L : 2.0L) * k[d] * c *
                      power(x, i, second[d][0]) * power(y, j, second[d][1]) *
                      power(z, l, second[d][2]);
      }
  value[4] += p->element.reaction * value[0];
}

static polynomial random_polynomial(int degree, const space_element *element)
{
  uint64_t seed = (unsigned)degree + 5u;
  polynomial p = {.degree = degree, .element = *element};
  for (int k = 0; k < 3; ++k) p.origin[k] = element->x[0][k];
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; i + j <= degree; ++j)
      for (int l = 0; i + j + l <= degree; ++l) p.coefficient[i][j][l] = test_random(&seed);
  return p;
}

/// What the local solve and u* have to be where the solution is this polynomial.
typedef struct exact_solution {
  double *load, *trace, *u, *q, *u_star;
} exact_solution;

static exact_solution solution_of(const polynomial *p, int order)
{
  const kg_cell_sizes z = kg_cell_sizes_of(&kg_tetrahedron, order);
  const int N = z.n_modes;
  double *all = malloc((size_t)(5 * N + z.n_trace + 5 * z.n_star) * sizeof *all);
  assert_non_null(all);
  const exact_solution s = {all + 4 * N, all + 5 * N, all, all + N, all + 5 * N + z.n_trace};
  space_element_project(&p->element, order, 5, polynomial_at, p, all);
  space_element_project_trace(&p->element, order, polynomial_at, p, s.trace);
  space_element_project(&p->element, order + 1, 5, polynomial_at, p, s.u_star);
  for (int i = 0; i < N; ++i) s.load[i] *= space_element_jacobian(&p->element);
  return s;
}

/// @param[in] flat  of whose 1e-2 of height derivatives make 1e2 of rounding
static void assert_solution(const exact_solution *s, kg_cell_sizes z, bool flat, const double *u,
                            const double *q, const double *u_star)
{
  const double much = flat ? 100.0 : 1.0;
  assert_close((size_t)z.n_modes, u, s->u, 1e-12 * much);
  assert_close((size_t)(3 * z.n_modes), q, s->q, 1e-12 * much);
  assert_close((size_t)z.n_star, u_star, s->u_star, 1e-12 * much);
}

static void polynomials_come_back(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *out[OUTPUTS];
    enum { ELEMENTS = 9 };
    exact_solution exact[ELEMENTS];
    space_case_create(&r, ctx, order, ELEMENTS);
    const int N = r.size.n_modes, m = r.size.n_facet;
    for (int e = 0; e < ELEMENTS; ++e) {
      const space_element book = space_case_book(&r, e);
      const polynomial p = random_polynomial(order, &book);
      exact[e] = solution_of(&p, order);
      memcpy(r.load + e * N, exact[e].load, (size_t)N * sizeof(double));
      for (int c = 0; c < 4 * m; ++c)
        r.trace[(int)r.facet[4 * e + c / m] * m + c % m] = exact[e].trace[c];
    }
    space_case_run_all(&r, out);
    for (int e = 0; e < ELEMENTS; ++e) {
      double *u = space_case_element(out[U], e, N), *q = space_case_element(out[FLUX], e, 3 * N);
      double *star = space_case_element(out[U_STAR], e, r.size.n_star);
      assert_solution(&exact[e], r.size, e % 4 > 1, u, q, star);
      assert_at_most(out[INDICATOR][e], 1e-10);
      free(u), free(q), free(star), free(exact[e].u);
    }
    space_case_free(out);
    space_case_destroy(&r);
  }
}

static void polynomials_come_back_with_tensors(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int e = 0; e < TENSORS; ++e) {
      space_tensor t;
      space_tensor_create(&t, ctx, order, e);
      const kg_cell_sizes z = t.ref.size;
      const int N = z.n_modes;
      const polynomial p = random_polynomial(order, &t.book);
      const exact_solution exact = solution_of(&p, order);
      double *f = space_lane(N, exact.load), *u = space_lane(N, NULL), *q = space_lane(3 * N, NULL);
      double *star = space_lane(z.n_star, NULL), indicator;
      memcpy(t.scratch, exact.trace, (size_t)z.n_trace * sizeof(double));
      kg_tetrahedron_solve(&t.ref, &t.factors, t.team, t.scratch, f, u, q);
      kg_tetrahedron_star(&t.ref, &t.factors, t.team, t.scratch, u, q, star, &indicator);
      double *u_e = space_case_element(u, 0, N), *q_e = space_case_element(q, 0, 3 * N);
      double *star_e = space_case_element(star, 0, z.n_star);
      assert_solution(&exact, z, e > 1, u_e, q_e, star_e);
      free(f), free(u), free(q), free(star), free(u_e), free(q_e), free(star_e), free(exact.u);
      space_tensor_destroy(&t);
    }
}

static void u_star_follows_q_and_has_the_mean_of_u(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *out[OUTPUTS];
    space_case_create(&r, ctx, order, 5);
    space_case_run_all(&r, out);
    const int N = r.size.n_modes;
    for (int e = 0; e < r.n_elements; ++e) {
      const space_element book = space_case_book(&r, e);
      double residual, scale, difference;
      double *u = space_case_element(out[U], e, N), *q = space_case_element(out[FLUX], e, 3 * N);
      double *star = space_case_element(out[U_STAR], e, r.size.n_star);
      space_element_star(&book, order, u, q, star, &residual, &scale, &difference);
      assert_at_most(residual, 1e-12 * scale);
      assert_true(star[0] == u[0]);
      assert_at_most(fabs(out[INDICATOR][e] - difference), 1e-12 * difference);
      free(u), free(q), free(star);
    }
    space_case_free(out);
    space_case_destroy(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_come_back),
      cmocka_unit_test(polynomials_come_back_with_tensors),
      cmocka_unit_test(u_star_follows_q_and_has_the_mean_of_u),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// What operators compute for an element, against the same element by the book (dense.h).
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "element_case.h"

enum { ELEMENTS = 7, TRACE = 3 * 13 };

/// The trace on an element's sides, in the edges' direction.
static void take_trace(const op_case *c, const op_data *data, int32_t e, double *lambda)
{
  const int m = c->size.n_edge;
  for (int l = 0; l < 3; ++l) {
    const size_t at = (size_t)(e / KG_LANES * 3 + l) * KG_LANES + e % KG_LANES;
    const int32_t edge = (int32_t)(c->layout.host.side_edge[at] >> 1);
    for (int k = 0; k < m; ++k) lambda[l * m + k] = data->array[OP_TRACE][edge * m + k];
  }
}

typedef void element_check(const op_case *c, const op_data *data, const element *e);

/// Every order and, up to order 6, every scaling; coefficients that are not 1. All elements up to
/// order 4, then two.
static void for_all_elements(element_check *check)
{
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    for (int scaling = 0; scaling < 3; ++scaling) {
      if (order > 6 && scaling != order % 3) continue;
      const kg_material material = {0.5 + 0.75 * scaling, scaling == 1 ? 0.0 : 3.0,
                                    1.5 - 0.4 * scaling, (kedge_scaling)scaling};
      op_case c;
      op_data data;
      case_create(&c, ctx, ELEMENTS, order, CASE_MIXED, material);
      op_run_all(&c, &data);
      for (int32_t e = 0; e < (order <= 4 ? ELEMENTS : 2); ++e) {
        element one;
        element_create(&one, &c, e);
        check(&c, &data, &one);
        dense_free(&one.dense);
      }
      op_free(&data);
      case_destroy(&c);
    }
}

static void the_test_mesh_has_sides_in_both_directions(void **state)
{
  (void)state;
  op_case c;
  int reversed[3] = {0};
  case_create(&c, ctx, ELEMENTS, 1, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  for (int32_t e = 0; e < 2; ++e) {
    element one;
    element_create(&one, &c, e);
    for (int l = 0; l < 3; ++l) ++reversed[one.reversed[l]];
    dense_free(&one.dense);
  }
  case_destroy(&c);
  assert_true(reversed[0] > 0 && reversed[1] > 0);
}

static void unpack(int n, const double *packed, double *full)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) full[i * n + j] = full[j * n + i] = packed[i * (i + 1) / 2 + j];
}

static void check_local(const op_case *c, const op_data *data, const element *e)
{
  double packed[TRACE * (TRACE + 1) / 2], full[TRACE * TRACE], expected[TRACE * TRACE];
  const int n = c->size.n_trace;
  element_take(c, data, OP_LOCAL, e->number, packed);
  unpack(n, packed, full);
  dense_local(&e->dense, expected);
  assert_close((size_t)(n * n), full, expected, e->tolerance);
}

static void local_matrices_are_G_minus_C_inverse_A_B(void **state)
{
  (void)state;
  for_all_elements(check_local);
}

static void check_condensed(const op_case *c, const op_data *data, const element *e)
{
  double load[STAR], actual[TRACE], expected[TRACE];
  element_take(c, data, OP_LOAD, e->number, load);
  element_take(c, data, OP_CONDENSED, e->number, actual);
  dense_condensed(&e->dense, load, expected);
  assert_close((size_t)c->size.n_trace, actual, expected, e->tolerance);
}

static void condensed_loads_are_minus_C_inverse_A_f(void **state)
{
  (void)state;
  for_all_elements(check_condensed);
}

static void check_solution(const op_case *c, const op_data *data, const element *e)
{
  double load[STAR], lambda[TRACE], actual[3 * STAR], expected[3 * STAR];
  element_take(c, data, OP_LOAD, e->number, load);
  take_trace(c, data, e->number, lambda);
  element_take_solution(c, data, e->number, actual);
  dense_solve(&e->dense, load, lambda, expected);
  const size_t N = (size_t)c->size.n_modes;
  assert_close(N, actual, expected, e->tolerance);
  assert_close(2 * N, actual + N, expected + N, e->tolerance);
}

static void local_solutions_are_those_of_the_whole_local_problem(void **state)
{
  (void)state;
  for_all_elements(check_solution);
}

static void check_star(const op_case *c, const op_data *data, const element *e)
{
  double solution[3 * STAR], actual[STAR], expected[STAR], indicator;
  const int N = c->size.n_modes, S = c->size.n_star;
  element_take_solution(c, data, e->number, solution);
  element_take(c, data, OP_U_STAR, e->number, actual);
  element_take(c, data, OP_INDICATOR, e->number, &indicator);
  const double condition =
      dense_star(c->size.order, (const double(*)[2])e->corner, solution, expected);
  assert_close((size_t)S, actual, expected, rounding(S) * condition);

  double sum = 0.0;
  for (int i = 0; i < S; ++i) sum += pow(expected[i] - (i < N ? solution[i] : 0.0), 2);
  const double distance_of_u = sqrt(0.5 * element_area(e) * sum);
  assert_close(1, &indicator, &distance_of_u, rounding(S) * condition);
}

static void u_star_has_the_gradient_of_q_and_the_mean_of_u(void **state)
{
  (void)state;
  for_all_elements(check_star);
}

static void check_constant(const op_case *c, const op_data *data, const element *e)
{
  double solution[3 * STAR], constant[3];
  element_take_solution(c, data, e->number, solution);
  element_take(c, data, OP_CONSTANT, e->number, constant);
  for (int k = 0; k < 3; ++k) assert_true(constant[k] == solution[k * c->size.n_modes]);
}

static void constant_modes_are_the_first_of_u_and_q(void **state)
{
  (void)state;
  for_all_elements(check_constant);
}

/// The smallest pivot of a Cholesky factorisation, relative to the largest entry.
static double smallest_pivot(int n, double *a)
{
  const double scale = largest((size_t)(n * n), a);
  double least = INFINITY;
  for (int k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    if (!(pivot > 0.0)) return pivot / scale;
    least = fmin(least, pivot);
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j] / pivot;
  }
  return least / scale;
}

static void check_definite(const op_case *c, const op_data *data, const element *e)
{
  double packed[TRACE * (TRACE + 1) / 2], k[TRACE * TRACE], product[TRACE];
  const int n = c->size.n_trace, m = c->size.n_edge;
  element_take(c, data, OP_LOCAL, e->number, packed);
  unpack(n, packed, k);
  if (c->material.reaction == 0.0) {
    // The trace of u = 1 is sqrt(2) in mode 0 of each edge.
    for (int i = 0; i < n; ++i)
      product[i] = sqrt(2.0) * (k[i * n] + k[i * n + m] + k[i * n + 2 * m]);
    assert_at_most(largest((size_t)n, product) / largest((size_t)(n * n), k), e->tolerance);
    const double scale = largest((size_t)(n * n), k);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) k[i * m * n + j * m] += scale;
  }
  assert_true(smallest_pivot(n, k) > e->tolerance);
}

static void local_matrices_are_definite_but_for_constants_without_reaction(void **state)
{
  (void)state;
  for_all_elements(check_definite);
}

static void empty_lanes_have_zero_local_matrices(void **state)
{
  (void)state;
  op_case c;
  op_data data;
  case_create(&c, ctx, ELEMENTS, 3, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  op_run_all(&c, &data);
  for (int k = 0; k < c.size.n_packed; ++k)
    for (int lane = ELEMENTS; lane < KG_LANES; ++lane)
      assert_true(data.array[OP_LOCAL][k * KG_LANES + lane] == 0.0);
  op_free(&data);
  case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_test_mesh_has_sides_in_both_directions),
      cmocka_unit_test(local_matrices_are_G_minus_C_inverse_A_B),
      cmocka_unit_test(condensed_loads_are_minus_C_inverse_A_f),
      cmocka_unit_test(local_solutions_are_those_of_the_whole_local_problem),
      cmocka_unit_test(u_star_has_the_gradient_of_q_and_the_mean_of_u),
      cmocka_unit_test(constant_modes_are_the_first_of_u_and_q),
      cmocka_unit_test(local_matrices_are_definite_but_for_constants_without_reaction),
      cmocka_unit_test(empty_lanes_have_zero_local_matrices),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

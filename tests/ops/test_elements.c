// What operators compute for an element, against the same element by the book (dense.h).
#include <math.h>
#include <stdlib.h>

#include "context.h"
#include "backend.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"
#include "dense.h"
#include "operations.h"

enum { ELEMENTS = 7, STAR = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2, TRACE = 3 * 13 };

/// One element of a case: its corners, the direction of its sides, and its dense matrices.
typedef struct element {
  int32_t number;
  double corner[3][2];
  bool reversed[3];
  dense_element dense;
  double tolerance;
} element;

static void element_create(element *e, const op_case *c, int32_t number)
{
  e->number = number;
  const int32_t *v = c->mesh->element_vertices + 3 * number;
  for (int l = 0; l < 3; ++l) {
    e->reversed[l] = v[l] > v[(l + 1) % 3];
    for (int k = 0; k < 2; ++k) e->corner[l][k] = c->mesh->vertices[2 * v[l] + k];
  }
  dense_create(&e->dense, c->size.order, (const double(*)[2])e->corner, c->material, e->reversed);
  e->tolerance = rounding(3 * c->size.n_modes) * e->dense.condition;
}

/// Rows of an element in an array [group][row][lane].
static void take(const op_case *c, const op_data *data, op_array array, int32_t e, double *rows)
{
  const int n = op_lane_rows(c, array);
  for (int i = 0; i < n; ++i)
    rows[i] = data->array[array][((e / KG_LANES) * n + i) * KG_LANES + e % KG_LANES];
}

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
  take(c, data, OP_LOCAL, e->number, packed);
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
  take(c, data, OP_LOAD, e->number, load);
  take(c, data, OP_CONDENSED, e->number, actual);
  dense_condensed(&e->dense, load, expected);
  assert_close((size_t)c->size.n_trace, actual, expected, e->tolerance);
}

static void condensed_loads_are_minus_C_inverse_A_f(void **state)
{
  (void)state;
  for_all_elements(check_condensed);
}

/// (u, q_x, q_y) by the operators.
static void take_solution(const op_case *c, const op_data *data, int32_t e, double *solution)
{
  take(c, data, OP_U, e, solution);
  take(c, data, OP_Q, e, solution + c->size.n_modes);
}

static void check_solution(const op_case *c, const op_data *data, const element *e)
{
  double load[STAR], lambda[TRACE], actual[3 * STAR], expected[3 * STAR];
  take(c, data, OP_LOAD, e->number, load);
  take_trace(c, data, e->number, lambda);
  take_solution(c, data, e->number, actual);
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
  take_solution(c, data, e->number, solution);
  take(c, data, OP_U_STAR, e->number, actual);
  take(c, data, OP_INDICATOR, e->number, &indicator);
  const double condition =
      dense_star(c->size.order, (const double(*)[2])e->corner, solution, expected);
  assert_close((size_t)S, actual, expected, rounding(S) * condition);

  const double area =
      0.5 * ((e->corner[1][0] - e->corner[0][0]) * (e->corner[2][1] - e->corner[0][1]) -
             (e->corner[2][0] - e->corner[0][0]) * (e->corner[1][1] - e->corner[0][1]));
  double sum = 0.0;
  for (int i = 0; i < S; ++i) sum += pow(expected[i] - (i < N ? solution[i] : 0.0), 2);
  const double distance_of_u = sqrt(0.5 * area * sum);
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
  take_solution(c, data, e->number, solution);
  take(c, data, OP_CONSTANT, e->number, constant);
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
  take(c, data, OP_LOCAL, e->number, packed);
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

static double cubic(double x, double y)
{
  return 1.0 + x - 2.0 * x * y + 0.5 * y * y * y;
}
static double cubic_x(double x, double y)
{
  (void)x;
  return 1.0 - 2.0 * y;
}
static double cubic_y(double x, double y)
{
  return -2.0 * x + 1.5 * y * y;
}

typedef double plane_function(double x, double y);

static void place(const double (*corner)[2], double r, double s, double xy[2])
{
  for (int k = 0; k < 2; ++k)
    xy[k] = corner[0][k] + 0.5 * (1.0 + r) * (corner[1][k] - corner[0][k]) +
            0.5 * (1.0 + s) * (corner[2][k] - corner[0][k]);
}

/// Values of functions at the points of one element, into an input array.
static void sample(const op_case *c, const element *e, int n_functions,
                   plane_function *const *functions, double *values)
{
  for (int f = 0; f < n_functions; ++f)
    for (int q = 0; q < c->sampling.n; ++q) {
      double xy[2];
      place((const double(*)[2])e->corner, c->sampling.r[q], c->sampling.s[q], xy);
      values[(f * c->sampling.n + q) * KG_LANES + e->number] = functions[f](xy[0], xy[1]);
    }
}

/// Integrals over the element of f phi_i, by a rule of its own.
static void integrate_load(const op_case *c, const element *e, double area, double *load)
{
  double phi[STAR], xy[2];
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, c->size.order + 4, &rule), KEDGE_OK);
  for (int i = 0; i < c->size.n_modes; ++i) load[i] = 0.0;
  for (int q = 0; q < rule.n; ++q) {
    place((const double(*)[2])e->corner, rule.r[q], rule.s[q], xy);
    kg_dubiner(c->size.order, rule.r[q], rule.s[q], phi, NULL, NULL);
    for (int i = 0; i < c->size.n_modes; ++i)
      load[i] += 0.5 * area * rule.w[q] * cubic(xy[0], xy[1]) * phi[i];
  }
  kg_triangle_rule_free(&rule);
}

static double area_of(const element *e)
{
  return 0.5 * ((e->corner[1][0] - e->corner[0][0]) * (e->corner[2][1] - e->corner[0][1]) -
                (e->corner[2][0] - e->corner[0][0]) * (e->corner[1][1] - e->corner[0][1]));
}

/// Squared errors of an element against the cubic, by a rule of its own.
static void integrate_errors(const op_case *c, const op_data *data, const element *e, double *sums)
{
  double solution[3 * STAR], star[STAR], phi[STAR], xy[2];
  take_solution(c, data, e->number, solution);
  take(c, data, OP_U_STAR, e->number, star);
  const int N = c->size.n_modes;
  const int degree = 2 * c->size.order + 2 > 6 ? 2 * c->size.order + 2 : 6;
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, degree, &rule), KEDGE_OK);
  for (int q = 0; q < rule.n; ++q) {
    place((const double(*)[2])e->corner, rule.r[q], rule.s[q], xy);
    kg_dubiner(c->size.order + 1, rule.r[q], rule.s[q], phi, NULL, NULL);
    double d[4] = {-cubic(xy[0], xy[1]), -cubic_x(xy[0], xy[1]), -cubic_y(xy[0], xy[1]),
                   -cubic(xy[0], xy[1])};
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < 3; ++k) d[k] += phi[i] * solution[k * N + i];
    for (int i = 0; i < c->size.n_star; ++i) d[3] += phi[i] * star[i];
    const double w = 0.5 * area_of(e) * rule.w[q];
    sums[0] += w * d[0] * d[0];
    sums[1] += w * (d[1] * d[1] + d[2] * d[2]);
    sums[2] += w * d[3] * d[3];
  }
  kg_triangle_rule_free(&rule);
}

/// max |u - cubic| over the sampling points and nodes.
static double largest_error(const op_case *c, const op_data *data, const element *e)
{
  double u[STAR], phi[STAR], xy[2], most = 0.0;
  take(c, data, OP_U, e->number, u);
  for (int q = 0; q < c->sampling.n; ++q) {
    place((const double(*)[2])e->corner, c->sampling.r[q], c->sampling.s[q], xy);
    kg_dubiner(c->size.order, c->sampling.r[q], c->sampling.s[q], phi, NULL, NULL);
    double value = -cubic(xy[0], xy[1]);
    for (int i = 0; i < c->size.n_modes; ++i) value += phi[i] * u[i];
    most = fmax(most, fabs(value));
  }
  return most;
}

static const op_operation *operation(op_array output)
{
  for (int i = 0; i < OPERATIONS; ++i)
    if (op_operations[i].outputs[0] == output) return &op_operations[i];
  return NULL;
}

/// Inputs that are the cubic and its gradient at the points of every element; the caller frees.
static void run_with_the_cubic(op_case *c, op_data *data)
{
  plane_function *const functions[] = {cubic, cubic_x, cubic_y};
  op_inputs(c, data);
  for (int32_t number = 0; number < ELEMENTS; ++number) {
    element e;
    element_create(&e, c, number);
    sample(c, &e, 1, functions, data->array[OP_SOURCE]);
    sample(c, &e, 3, functions, data->array[OP_EXACT]);
    dense_free(&e.dense);
  }
  op_repeat_last(c, OP_SOURCE, data->array[OP_SOURCE]);
  op_repeat_last(c, OP_EXACT, data->array[OP_EXACT]);
  const op_array order[] = {OP_LOAD, OP_U, OP_U_STAR, OP_ERRORS};
  for (int i = 0; i < 4; ++i) operation(order[i])->run(c, data, data);
}

static void check_cubic(const op_case *c, const op_data *data)
{
  double sums[4] = {0};
  for (int32_t number = 0; number < ELEMENTS; ++number) {
    element e;
    element_create(&e, c, number);
    double load[STAR], expected[STAR];
    take(c, data, OP_LOAD, number, load);
    integrate_load(c, &e, area_of(&e), expected);
    assert_close((size_t)c->size.n_modes, load, expected, rounding(c->sampling.n));
    integrate_errors(c, data, &e, sums);
    sums[3] = fmax(sums[3], largest_error(c, data, &e));
    dense_free(&e.dense);
  }
  const double tolerance = rounding(c->sampling.n) * c->size.n_star;
  for (int k = 0; k < 4; ++k) assert_close(1, data->array[OP_ERRORS] + k, sums + k, tolerance);
}

static void loads_and_errors_are_integrals_over_the_elements(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    op_case c;
    op_data data;
    case_create(&c, ctx, ELEMENTS, order, CASE_MIXED, (kg_material){2, 1, 1, KEDGE_SCALING_ONE});
    run_with_the_cubic(&c, &data);
    check_cubic(&c, &data);
    op_free(&data);
    case_destroy(&c);
  }
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
      cmocka_unit_test(loads_and_errors_are_integrals_over_the_elements),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

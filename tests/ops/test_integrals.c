// Load vectors and errors against integrals by a rule of the test's own.
#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"
#include "context.h"
#include "element_case.h"
#include "ops/sample/points.h"

enum { ELEMENTS = 7 };

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

/// Values of functions at the first points of one element, into an input array.
static void sample(const op_case *c, const element *e, int n_functions,
                   plane_function *const *functions, int n_points, double *values)
{
  for (int f = 0; f < n_functions; ++f)
    for (int q = 0; q < n_points; ++q) {
      double xy[2];
      place((const double(*)[2])e->corner, c->sampling.r[q], c->sampling.s[q], xy);
      values[(f * n_points + q) * KG_LANES + e->number] = functions[f](xy[0], xy[1]);
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

/// Squared errors of an element against the cubic, by a rule of its own.
static void integrate_errors(const op_case *c, const op_data *data, const element *e, double *sums)
{
  double solution[3 * STAR], star[STAR], phi[STAR], xy[2];
  element_take_solution(c, data, e->number, solution);
  element_take(c, data, OP_U_STAR, e->number, star);
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
    const double w = 0.5 * element_area(e) * rule.w[q];
    sums[0] += w * d[0] * d[0];
    sums[1] += w * (d[1] * d[1] + d[2] * d[2]);
    sums[2] += w * d[3] * d[3];
  }
  kg_triangle_rule_free(&rule);
}

/// max |u - cubic| over the sampling points, corners included.
static double largest_error(const op_case *c, const op_data *data, const element *e)
{
  double u[STAR], phi[STAR], xy[2], most = 0.0;
  element_take(c, data, OP_U, e->number, u);
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
    sample(c, &e, 1, functions, kg_rule_points(c->size.order), data->array[OP_SOURCE]);
    sample(c, &e, 3, functions, c->sampling.n, data->array[OP_EXACT]);
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
    element_take(c, data, OP_LOAD, number, load);
    integrate_load(c, &e, element_area(&e), expected);
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

/// One mode of one element is NaN: neither the norm nor the maximum may hide it.
static void an_error_that_is_nan_is_not_hidden(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    for (int32_t e = 0; e < ELEMENTS; e += 3) {
      op_case c;
      op_data data;
      case_create(&c, ctx, ELEMENTS, order, CASE_MIXED, (kg_material){2, 1, 1, KEDGE_SCALING_ONE});
      op_run_all(&c, &data);
      const op_operation *errors = operation(OP_ERRORS);
      const double *sums = data.array[OP_ERRORS];
      for (int k = 0; k < 4; ++k) assert_true(isfinite(sums[k]));
      data.array[OP_U][e] = NAN;
      free(data.array[OP_ERRORS]);
      errors->run(&c, &data, &data);
      sums = data.array[OP_ERRORS];
      assert_true(isnan(sums[0]) && isnan(sums[3]));
      assert_true(isfinite(sums[1]) && isfinite(sums[2]));
      op_free(&data);
      case_destroy(&c);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_and_errors_are_integrals_over_the_elements),
      cmocka_unit_test(an_error_that_is_nan_is_not_hidden),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

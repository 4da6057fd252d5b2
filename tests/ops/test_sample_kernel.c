// The kernels that evaluate on the GPU. That for load vectors, compiled by the host's compiler and
// run thread after thread, makes those of the host.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "case.h"
#include "compare.h"
#include "compiled.h"
#include "context.h"
#include "ops/sample/sample_kernel.h"
#include "problem/expression_text.h"

extern const char kg_circle_text[];  // that of ops/sample/circle.cuh

static kg_function function_of(const char *text)
{
  kg_function f = {.kind = KG_FUNCTION_EXPRESSION};
  must(ctx, expression_parse(ctx, text, NULL, 0, &f.expression));
  return f;
}

static const double load_scale = 0.75;

typedef void kernel_function(const double *vertices, const int *vertex, const int *region,
                             long long first_group, long long n_groups, long long n_elements,
                             double t, double scale, double *load, unsigned char *rough,
                             double least);

/// The kernel for load vectors as C++, thread after thread, on groups [first, first + count).
static int64_t run_loads(const op_case *c, const kg_function *source_function, int32_t first,
                         int32_t count, double *load, uint8_t *rough)
{
  char *source;
  must(ctx, kg_sample_kernel_source(ctx, KG_SAMPLE_LOADS, kg_sampling_points(&c->sampling),
                                    &source_function, &source));
  void *const library = compiled_as("c++", source);
  unsigned *const thread = dlsym(library, "threadIdx"), *const block = dlsym(library, "blockIdx");
  void *const symbol = dlsym(library, "sample"), *const first_bad = dlsym(library, "first_bad");
  kernel_function *kernel;
  memcpy(&kernel, &symbol, sizeof symbol);
  assert_true(thread && block && kernel && first_bad);
  for (*block = 0; *block < (unsigned)(count + 3) / 4; ++*block)
    for (*thread = 0; *thread < 128; ++*thread)
      kernel(c->layout.host.vertices, c->layout.host.vertex, c->mesh->element_region, first, count,
             c->layout.count.n_elements, source_function->t, load_scale, load, rough, 0.0);
  int64_t bad;
  memcpy(&bad, first_bad, sizeof bad);
  dlclose(library);
  free(source);
  return bad;
}

static void load_vectors_are_those_of_the_host(void **state)
{
  (void)state;
  if (!compiles_cxx()) skip();
  kg_function f = function_of("sin(3*x)*cos(3*x)*y^3-x/7+hypot(x,y)*t+(x<y?x:exp(t*y))");
  kg_function_set_time(&f, 0.875);
  const kg_function *const functions[] = {&f};
  static const char *const names[] = {"f"};
  const kg_sample_set set = {1, functions, names, ""};
  const int orders[] = {1, 4, KEDGE_ORDER_MAX};
  for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
    op_case c;
    case_create(&c, ctx, 129, orders[k], CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
    const int32_t first = (int32_t)k, count = c.layout.count.n_groups - first;
    const size_t group = (size_t)c.size.n_modes * KG_LANES, n = group * (size_t)count;
    double *values = calloc((size_t)count * (size_t)c.sampling.n * KG_LANES, sizeof *values);
    double *expected = calloc(n, sizeof *expected), *load = calloc(n + 1, sizeof *load);
    const size_t lanes = (size_t)count * KG_LANES;
    uint8_t *rough = calloc(lanes, 1), *rough_there = calloc(lanes, 1);
    assert_true(values && expected && load && rough && rough_there);
    load[n] = -77;
    const kg_points points = kg_points_of_rule(c.points);
    must(ctx, kg_sample(ctx, kg_triangle_places(&points, c.mesh), first, count, &set, values));
    must(ctx, kg_load_vectors(ctx, &(kg_load_vectors_args){.batch = c.batch,
                                                           .points = points,
                                                           .first_group = first,
                                                           .n_groups = count,
                                                           .scale = load_scale,
                                                           .values = values,
                                                           .load = expected,
                                                           .rough = rough}));
    assert_int_equal(run_loads(&c, &f, first, count, load, rough_there), -1);
    assert_close(n, load, expected, rounding(c.sampling.n));
    assert_memory_equal(rough_there, rough, lanes);
    // The function jumps along x = y: elements there are rough, and others are not.
    assert_non_null(memchr(rough, 1, lanes));
    assert_non_null(memchr(rough, 0, lanes));
    assert_true(load[n] == -77);
    free(rough_there);
    free(rough);
    free(load);
    free(expected);
    free(values);
    case_destroy(&c);
  }
  kg_expression_free(f.expression);
}

static void the_first_bad_value_is_found_and_refused_as_on_the_host(void **state)
{
  (void)state;
  if (!compiles_cxx()) skip();
  op_case c;
  case_create(&c, ctx, 129, 2, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  // Not a number beyond a line through one vertex.
  const double *corner = c.layout.host.vertices + 2 * (size_t)c.layout.host.vertex[KG_LANES * 7];
  char text[200];
  snprintf(text, sizeof text, "sqrt(%.17g-x)", corner[0]);
  kg_function bad = function_of(text);
  const kg_function *const functions[] = {&bad};
  static const char *const names[] = {"bad"};
  const kg_sample_set set = {1, functions, names, ""};
  const int32_t count = c.layout.count.n_groups;
  double *values = calloc((size_t)count * (size_t)c.sampling.n * KG_LANES, sizeof *values);
  double *load = calloc((size_t)count * (size_t)c.size.n_modes * KG_LANES, sizeof *load);
  assert_true(values && load);
  const kg_points points = kg_points_of_rule(c.points);
  assert_int_equal(kg_sample(ctx, kg_triangle_places(&points, c.mesh), 0, count, &set, values),
                   KEDGE_ERR_INPUT);
  char expected[300];
  snprintf(expected, sizeof expected, "%s", kedge_context_error(ctx));
  assert_non_null(strstr(expected, "bad is nan at x = "));
  int64_t smallest = 0;
  while (isfinite(values[smallest])) ++smallest;
  assert_true(smallest > 0);

  const int64_t index = run_loads(&c, &bad, 0, count, load, NULL);
  assert_int_equal(index, smallest);
  assert_int_equal(kg_sample_refuse(ctx, kg_triangle_places(&points, c.mesh), 0, &set, index),
                   KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx), expected);
  free(load);
  free(values);
  kg_expression_free(bad.expression);
  case_destroy(&c);
}

static void what_is_not_used_need_not_be_finite(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 129, 2, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  // Infinite at one vertex alone, which is a corner of its elements.
  const double *corner = c.layout.host.vertices + 2 * (size_t)c.layout.host.vertex[KG_LANES * 7];
  char text[200];
  snprintf(text, sizeof text, "1/((x-(%.17g))^2+(y-(%.17g))^2)", corner[0], corner[1]);
  kg_function regular = function_of("x"), singular = function_of(text);
  const kg_function *const functions[] = {&regular, &singular, &regular, &singular};
  static const char *const names[] = {"u", "du/dx", "du/dy", "u"};
  const int32_t count = c.layout.count.n_groups;
  const kg_points all = c.points, rule = kg_points_of_rule(c.points);
  double *values = calloc((size_t)count * 3 * (size_t)all.n * KG_LANES, sizeof *values);
  assert_non_null(values);
  const kg_sample_set exact = {3, functions, names, ""}, source = {1, functions + 1, names, ""};
  const kg_sample_set maximum = {1, functions + 3, names + 3, ""};
  must(ctx, kg_sample(ctx, kg_triangle_places(&rule, c.mesh), 0, count, &source, values));
  must(ctx, kg_sample(ctx, kg_triangle_places(&all, c.mesh), 0, count, &exact, values));
  assert_int_equal(kg_sample(ctx, kg_triangle_places(&all, c.mesh), 0, count, &maximum, values),
                   KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "u is inf at x = "));
  free(values);
  kg_expression_free(regular.expression);
  kg_expression_free(singular.expression);
  case_destroy(&c);
}

typedef void circle_function(double a, double *sine, double *cosine);

/// Whether a value is right to so many units in the last place.
static bool right_to(int units, double value, long double exact)
{
  const double near = fabs((double)exact), unit = nextafter(near, INFINITY) - near;
  return fabsl(value - exact) <= units * (long double)unit;
}

/// sin(pi a) and cos(pi a), from the rest to the nearest half.
static void exact_circle_of_pi(double a, long double *sine, long double *cosine)
{
  const double halves = rint(2.0 * fmod(a, 2.0)), rest = fmod(a, 2.0) - 0.5 * halves;
  const long double angle = 3.14159265358979323846264338327950288L * rest;
  const long double s = sinl(angle), c = cosl(angle);
  const int quarter = ((int)halves % 4 + 4) % 4;
  *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
  *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

static void check_circles(circle_function *circle, circle_function *circle_of_pi, double a)
{
  double s, c;
  long double sine, cosine;
  circle(a, &s, &c);
  if (!right_to(2, s, sinl(a)) || !right_to(2, c, cosl(a)))
    fail_msg("circle of %.17g: %.17g and %.17g", a, s, c);
  circle_of_pi(a, &s, &c);
  exact_circle_of_pi(a, &sine, &cosine);
  if (!right_to(1, s, sine) || !right_to(1, c, cosine))
    fail_msg("circle of pi %.17g: %.17g and %.17g", a, s, c);
}

static void sine_and_cosine_are_right_to_two_units_and_of_pi_to_one(void **state)
{
  (void)state;
  if (!compiles_cxx()) skip();
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  fprintf(out,
          "%s\nextern \"C\" void angle(double a, double *s, double *c)\n"
          "{ int angle = 0; *c = circle(a, &angle).cosine; *s = known(circle(a, &angle).sine, "
          "angle); }\n"
          "extern \"C\" void turns(double a, double *s, double *c)\n"
          "{ int angle = 0; *c = circle_of_pi(a, &angle).cosine;\n"
          "  *s = known(circle_of_pi(a, &angle).sine, angle); }\n",
          kg_circle_text);
  assert_int_equal(fclose(out), 0);
  void *const library = compiled_as("c++", text);
  circle_function *circle, *circle_of_pi;
  void *symbol = dlsym(library, "angle");
  memcpy(&circle, &symbol, sizeof symbol);
  symbol = dlsym(library, "turns");
  memcpy(&circle_of_pi, &symbol, sizeof symbol);
  assert_true(circle && circle_of_pi);
  unsigned long long seed = 7;
  for (int i = 0; i < 20000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const double unit = ldexp((double)(seed >> 12), -51) - 1.0;  // -1 ... 1
    const double range[] = {1e-9, 1.0, 20.0, 1e6, 7e13};
    check_circles(circle, circle_of_pi, unit * range[i % 5]);
    check_circles(circle, circle_of_pi, i * 1.5707963267948966);  // next to a zero
    check_circles(circle, circle_of_pi, nextafter(0.25 * i, i % 2 ? 0.0 : 1e9));
  }
  double s, c;
  circle_of_pi(70368744177663.5, &s, &c);
  assert_true(s == -1.0 && c == 0.0);
  circle_function *const circles[] = {circle, circle_of_pi};
  const double left_to_others[] = {70368744177664.0, -1e300, INFINITY, -INFINITY, NAN};  // 2^46
  for (int i = 0; i < 10; ++i) {
    circles[i % 2](left_to_others[i / 2], &s, &c);
    assert_true(isnan(s));
  }
  circle(70368744177663.0, &s, &c);
  assert_true(fabs(s * s + c * c - 1.0) < 1e-15);
  dlclose(library);
  free(text);
}

static void of_many_bad_values_the_host_names_the_first(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 1000, 1, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  kg_function bad = function_of("sqrt(-1-x^2)");
  const kg_function *const functions[] = {&bad};
  static const char *const names[] = {"source"};
  const kg_sample_set set = {1, functions, names, ""};
  const int32_t count = c.layout.count.n_groups;
  double *values = malloc((size_t)count * (size_t)c.sampling.n * KG_LANES * sizeof *values);
  assert_non_null(values);
  const kg_points points = c.points;
  assert_int_equal(kg_sample_refuse(ctx, kg_triangle_places(&points, c.mesh), 0, &set, 0),
                   KEDGE_ERR_INPUT);
  char expected[300];
  snprintf(expected, sizeof expected, "%s", kedge_context_error(ctx));
  assert_non_null(strstr(expected, "source is nan at x = "));
  for (int i = 0; i < 20; ++i) {
    assert_int_equal(kg_sample(ctx, kg_triangle_places(&points, c.mesh), 0, count, &set, values),
                     KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(ctx), expected);
  }
  free(values);
  kg_expression_free(bad.expression);
  case_destroy(&c);
}

static void the_basis_is_the_product_of_its_factors_in_rows_of_the_rule(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    kg_sampling rule;
    must(ctx, kg_sampling_create(ctx, order, order == 4 ? KG_POINT_ROWS_MAX : kg_error_rows(order),
                                 &rule));
    const kg_points p = kg_sampling_points(&rule);
    for (int point = 0; point < p.rows * p.rows; ++point) {
      double product[(KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2];
      for (int d = 0, mode = 0; d <= order + 1; ++d)
        for (int i = 0; i <= d; ++i, ++mode)
          product[mode] = p.along[point % p.rows * (order + 2) + i] *
                          p.across[point / p.rows * p.n_star + mode];
      assert_close((size_t)p.n_star, product, p.basis + point * p.n_star, rounding(order * order));
    }
    kg_sampling_free(&rule);
  }
}

/// The integral of r^i s^j by the rule.
static double integral(const kg_triangle_rule *rule, int i, int j)
{
  double sum = 0.0;
  for (int q = 0; q < rule->n; ++q) sum += rule->w[q] * pow(rule->r[q], i) * pow(rule->s[q], j);
  return sum;
}

static void check_rule(int order, int rows)
{
  kg_sampling s;
  kg_triangle_rule fine;
  must(ctx, kg_sampling_create(ctx, order, rows, &s));
  const int degree = 2 * rows - 1, n = rows * rows;
  must(ctx, kg_triangle_rule_create(ctx, degree + 8, &fine));
  const kg_triangle_rule rule = {n, s.r, s.s, s.weight};
  for (int i = 0; i <= degree; ++i)
    assert_at_most(fabs(integral(&rule, i, degree - i) - integral(&fine, i, degree - i)),
                   rounding(n));
  assert_int_equal(s.n, n + 3);
  for (int k = 0; k < 3; ++k) {
    assert_true(s.weight[n + k] == 0.0);
    assert_true(s.r[n + k] == (k == 1 ? 1.0 : -1.0) && s.s[n + k] == (k == 2 ? 1.0 : -1.0));
  }
  kg_triangle_rule_free(&fine);
  kg_sampling_free(&s);
}

static void rules_are_exact_to_their_degree_and_the_corners_follow(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    check_rule(order, kg_point_rows(order));  // degree 2 P + 5
    check_rule(order, kg_error_rows(order));  // 2 P + 9
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_are_exact_to_their_degree_and_the_corners_follow),
      cmocka_unit_test(the_basis_is_the_product_of_its_factors_in_rows_of_the_rule),
      cmocka_unit_test(load_vectors_are_those_of_the_host),
      cmocka_unit_test(the_first_bad_value_is_found_and_refused_as_on_the_host),
      cmocka_unit_test(what_is_not_used_need_not_be_finite),
      cmocka_unit_test(sine_and_cosine_are_right_to_two_units_and_of_pi_to_one),
      cmocka_unit_test(of_many_bad_values_the_host_names_the_first),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

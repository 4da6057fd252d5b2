// Register code against the tree, and derivatives against differences and known formulas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "expression/function.h"
#include "expression_help.h"

/// Every operation, arguments inside the domains for 0 < x, y < 1.
static const char *const functions[] = {
    "x+y",
    "x-y",
    "x*y",
    "x/(1+y)",
    "-x",
    "x^3",
    "x^-2",
    "(1+x)^2.5",
    "(1+x)^y",
    "2^x",
    "sin(3*x+y)",
    "cos(x*y)",
    "tan(x*y)",
    "asin(x*y)",
    "acos(x-y)",
    "atan(x/y)",
    "sinh(x-2*y)",
    "cosh(x+y)",
    "tanh(x/y)",
    "exp(x*y)",
    "log(x+2*y)",
    "sqrt(x+y)",
    "abs(x-2*y)",
    "atan2(y,x)",
    "atan2(x-2,y-3)",
    "min(x,y^2)",
    "max(x*y,y-x)",
    "hypot(x,2*y)",
    "erf(x-2*y)",
    "log10(1+x+y)",
    "log2(1+x*y)",
    "cbrt(1+x+y)",
    "x*floor(2.2+y/2)",
    "x*ceil(1.1+y/2)",
    "x*round(0.6+y/3)",
    "x*sign(y-2)",
    "x*step(y-2)+y*step(x)",
    "mod(5+x,3+y)",
    "pow(x+1,y)",
    "x<y ? x^2 : y*x",
    "x>=y ? x : y",
    "x<=y ? 1/x : y",
    "x==y ? x : y",
    "x!=y ? x*y : y",
    "x>y ? sin(x) : x^3",
    "(8*pi^2+1)*sin(2*pi*x)*sin(2*pi*y)",
    "hypot(x,y)^(2/3)*sin(2/3*atan2(y,x))",
    "exp(-10*((x-.5)^2+(y-.5)^2))",
    "(x<y)*x+(x>y)*y+(x<=y)*2+(x>=y)*3+(x==y)+(x!=y)",
    "x^7-y^13+(x+y)^32-(x-y)^31",
    "x^33",
    "x",
    "y",
    "2.5",
    "sigma*x+k*y^2",
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/// The value node by node, by the definition of each operation.
static double by_the_tree(const kg_expression *e, double x, double y)
{
  double *const value = malloc((size_t)e->n_nodes * sizeof *value);
  assert_non_null(value);
  for (int32_t i = 0; i < e->n_nodes; ++i) {
    const kg_node *n = &e->nodes[i];
    if (n->op == KG_OP_CONSTANT)
      value[i] = n->value;
    else if (n->op == KG_OP_X)
      value[i] = x;
    else if (n->op == KG_OP_Y)
      value[i] = y;
    else
      value[i] = kg_op_apply(n->op, value[n->child[0]], value[n->child[1]], value[n->child[2]]);
  }
  const double result = value[e->n_nodes - 1];
  free(value);
  return result;
}

static double point(int i, int salt)
{
  return fmod(0.5 + 0.6180339887498949 * (i + 1) + 0.7548776662466927 * salt * (i + 3), 1.0);
}

static void register_code_agrees_with_the_tree(void **state)
{
  (void)state;
  enum { POINTS = 777 };
  static double x[POINTS], y[POINTS], value[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = 0.01 + 0.98 * point(i, 0);
    y[i] = i % 50 == 0 ? x[i] : 0.01 + 0.98 * point(i, 1);
  }
  for (int f = 0; f < N_FUNCTIONS; ++f) {
    kg_expression *e = parsed(functions[f]);
    kg_expression_evaluate(e, &(kedge_points){.n = POINTS, .x = x, .y = y}, value);
    for (int i = 0; i < POINTS; ++i) {
      const double expected = by_the_tree(e, x[i], y[i]);
      if (!is_close(value[i], expected, 64))
        fail_msg("%s at %g, %g: %.17g, not %.17g", functions[f], x[i], y[i], value[i], expected);
    }
    kg_expression_free(e);
  }
}

static void a_value_does_not_depend_on_its_place_in_the_block(void **state)
{
  (void)state;
  static const size_t sizes[] = {0, 1, 7, 8, 255, 256, 257, 511, 512, 513, 700};
  enum { MOST = 700, GUARD = 4 };
  double x[MOST], y[MOST], value[MOST + GUARD];
  for (int i = 0; i < MOST; ++i) {
    x[i] = point(i, 0);
    y[i] = point(i, 1);
  }
  for (int f = 0; f < N_FUNCTIONS; ++f) {
    kg_expression *e = parsed(functions[f]);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const size_t n = sizes[s];
      for (int i = 0; i < MOST + GUARD; ++i) value[i] = -77;
      kg_expression_evaluate(e, &(kedge_points){.n = n, .x = x, .y = y}, value);
      for (size_t i = 0; i<n; i += n> 20 ? 13 : 1) {
        const double alone = at(e, x[i], y[i]);
        assert_memory_equal(&value[i], &alone, sizeof alone);
      }
      for (size_t i = n; i < MOST + GUARD; ++i) assert_true(value[i] == -77);
    }
    kg_expression_free(e);
  }
}

static void many_live_values_shorten_the_block(void **state)
{
  (void)state;
  enum { TERMS = 300, POINTS = 300 };
  // sum of s_i * s_(i+1) * ... read twice in opposite order keeps every s_i alive
  static char text[TERMS * 60];
  size_t length = 0;
  for (int i = 0; i < TERMS; ++i) length += (size_t)sprintf(text + length, "sin(%d.5*x)+", i);
  length += (size_t)sprintf(text + length, "0");
  for (int i = TERMS - 1; i >= 0; --i)
    length += (size_t)sprintf(text + length, "-y*sin(%d.5*x)", i);
  kg_expression *e = parsed(text);
  assert_true(e->program.n_temporaries + e->program.n_constants > 64);
  double x[POINTS], y[POINTS], value[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = point(i, 0);
    y[i] = point(i, 1);
  }
  kg_expression_evaluate(e, &(kedge_points){.n = POINTS, .x = x, .y = y}, value);
  for (int i = 0; i < POINTS; ++i) {
    const double expected = by_the_tree(e, x[i], y[i]);
    assert_true(is_close(value[i], expected, 8));
  }
  kg_expression_free(e);
}

static void the_branch_not_taken_leaves_no_trace(void **state)
{
  (void)state;
  assert_true(value_of("x < 1 ? 5 : log(-1)", 0, 0) == 5);
  assert_true(value_of("x > 0 ? 1/x : 7", 0, 0) == 7);
  assert_true(isnan(value_of("min(x, log(-1))", 0, 0)));
  assert_true(isnan(value_of("max(log(-1), x)", 0, 0)));
}

/// A difference formula of order 4 with two steps; the step for rounding 1e-16 ^ (1/5).
static double difference(const kg_expression *e, char variable, double x, double y)
{
  const double h = 1e-3;
  double f[4];
  static const int steps[4] = {-2, -1, 1, 2};
  for (int k = 0; k < 4; ++k)
    f[k] = variable == 'x' ? at(e, x + steps[k] * h, y) : at(e, x, y + steps[k] * h);
  return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
}

static void derivatives_agree_with_differences(void **state)
{
  (void)state;
  for (int f = 0; f < N_FUNCTIONS; ++f) {
    for (int v = 0; v < 2; ++v) {
      kg_expression *e = parsed(functions[f]), *d;
      assert_int_equal(kg_expression_differentiate(NULL, e, "xy"[v], &d), KEDGE_OK);
      for (int i = 0; i < 20; ++i) {
        const double x = 0.2 + 0.3 * point(i, 0), y = 0.55 + 0.3 * point(i, 1);
        const bool kink = fabs(x - y * y) < 0.02 || fabs(x * y - y + x) < 0.02 ||
                          fabs(x - y) < 0.02 || fabs(x - 2 * y) < 0.02;
        if (kink) continue;  // the difference formula would step across it
        const double exact = at(d, x, y), near = difference(e, "xy"[v], x, y);
        // h^4/30 f''''' is at most 1e-12/30 times 1e6 for the steepest function here
        if (!(fabs(exact - near) <= 1e-7 * fmax(1, fabs(exact))))
          fail_msg("d/d%c %s at %g, %g: %.12g, difference %.12g", "xy"[v], functions[f], x, y,
                   exact, near);
      }
      kg_expression_free(e);
      kg_expression_free(d);
    }
  }
}

static void derivatives_have_their_known_form(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    char variable;
    const char *derivative;
  } cases[] = {
      {"7", 'x', "0"},
      {"y", 'x', "0"},
      {"x", 'x', "1"},
      {"x^3", 'x', "3*x^2"},
      {"x^-2", 'x', "-2*x^-3"},
      {"x*y", 'y', "x"},
      {"x/y", 'x', "1/y"},
      {"sin(x)", 'x', "cos(x)"},
      {"cos(2*x)", 'x', "-2*sin(2*x)"},
      {"tan(x)", 'x', "tan(x)^2+1"},
      {"asin(x)", 'x', "1/sqrt(1-x^2)"},
      {"acos(x)", 'x', "-1/sqrt(1-x^2)"},
      {"atan(x)", 'x', "1/(x^2+1)"},
      {"sinh(x)", 'x', "cosh(x)"},
      {"cosh(x)", 'x', "sinh(x)"},
      {"tanh(x)", 'x', "1-tanh(x)^2"},
      {"exp(-x)", 'x', "-exp(-x)"},
      {"log(x)", 'x', "1/x"},
      {"sqrt(x)", 'x', "0.5/sqrt(x)"},
      {"abs(x)", 'x', "x<0?-1:1"},
      {"min(x,y)", 'x', "x<y?1:0"},
      {"max(x,y)", 'y', "x>y?0:1"},
      {"x<y", 'x', "0"},
      {"x<1?x^2:y", 'x', "x<1?2*x:0"},
      {"2^x", 'x', "0.6931471805599453*2^x"},
      {"x^y", 'x', "y*x^(y-1)"},
      {"x^y", 'y', "x^y*log(x)"},
      {"t", 'x', "0"},
      {"x*sin(t)", 'x', "sin(t)"},
      {"x*sin(t)", 't', "x*cos(t)"},
      {"x^2", 't', "0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[200];
    kg_expression *e = parsed(cases[i].text), *d;
    assert_int_equal(kg_expression_differentiate(NULL, e, cases[i].variable, &d), KEDGE_OK);
    printed(d, text, sizeof text);
    assert_string_equal(text, cases[i].derivative);
    kg_expression_free(e);
    kg_expression_free(d);
  }
}

static kg_function constant_of(double value)
{
  return (kg_function){.kind = KG_FUNCTION_CONSTANT, .constant = value};
}

static void the_source_of_a_product_of_sines_stays_one_product(void **state)
{
  (void)state;
  const kg_function three = constant_of(3), one = constant_of(1);
  kg_expression *u = parsed("sin(2*pi*x)*sin(2*pi*y)"), *f;
  assert_int_equal(kg_expression_source(NULL, u, 2, 1, &three, &one, NULL, &f), KEDGE_OK);
  assert_true(f->n_nodes <= 10);
  for (int i = 0; i < 10; ++i) {
    const double x = point(i, 0), y = point(i, 1);
    const double expected = (24 * M_PI * M_PI + 1) * sin(2 * M_PI * x) * sin(2 * M_PI * y);
    assert_true(fabs(at(f, x, y) - expected) <= 1e-13 * 24 * M_PI * M_PI);
  }
  kg_expression_free(u);
  kg_expression_free(f);
}

static void sources_in_space_have_three_derivatives(void **state)
{
  (void)state;
  // -div(K grad u) + 2 u of u = x^2 y z with K = [[2, z, 0], [z, 3, x], [0, x, 4]].
  kg_function k[6], reaction = constant_of(2);
  static const char *const parts[] = {"2", "z", "0", "3", "x", "4"};
  for (int i = 0; i < 6; ++i)
    k[i] = (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = parsed(parts[i])};
  kg_expression *u = parsed("x^2*y*z"), *f, *scalar;
  assert_int_equal(kg_expression_source(NULL, u, 3, 6, k, &reaction, NULL, &f), KEDGE_OK);
  assert_int_equal(kg_expression_source(NULL, u, 3, 1, &k[5], &reaction, NULL, &scalar), KEDGE_OK);
  const double x = 0.3, y = -0.7, z = 1.1;
  const kedge_points points = {.n = 1, .x = &x, .y = &y, .z = &z};
  double value;
  kg_expression_evaluate(f, &points, &value);
  // Rows: 4xyz + z x^2 z, 2xyz z + 3 x^2 z + x x^2 y, x x^2 z + 4 x^2 y.
  const double along = 4 * y * z + 2 * x * z * z, across = 2 * x * z * z + x * x * x,
               up = x * x * x;
  assert_true(fabs(value - (2 * x * x * y * z - along - across - up)) <= 1e-14);
  kg_expression_evaluate(scalar, &points, &value);
  assert_true(fabs(value - (2 * x * x * y * z - 4 * 2 * y * z)) <= 1e-14);
  for (int i = 0; i < 6; ++i) kg_expression_free(k[i].expression);
  kg_expression_free(scalar);
  kg_expression_free(f);
  kg_expression_free(u);
}

static void the_source_of_what_moves_has_its_rate_times_the_mass(void **state)
{
  (void)state;
  const kg_function two = constant_of(2), three = constant_of(3), none = {.kind = KG_FUNCTION_NONE};
  const kg_function mass = {.kind = KG_FUNCTION_EXPRESSION, .expression = parsed("5+y")};
  const kg_function *const masses[] = {NULL, &none, &two, &mass};
  kg_expression *u = parsed("x^2*exp(-t)");
  const double x = 0.3, y = -0.7;
  const kedge_points points = {.n = 1, .x = &x, .y = &y, .t = 0.25};
  for (int i = 0; i < 4; ++i) {
    const double factor = i < 2 ? 1.0 : i == 2 ? 2.0 : 5.0 + y;
    kg_expression *f;
    double value;
    assert_int_equal(kg_expression_source(NULL, u, 2, 1, &two, &three, masses[i], &f), KEDGE_OK);
    kg_expression_evaluate(f, &points, &value);
    assert_true(is_close(value, exp(-0.25) * (3 * x * x - 4 - factor * x * x), 8));
    kg_expression_free(f);
  }
  kg_expression_free(mass.expression);
  kg_expression_free(u);
}

static void the_source_of_what_stands_is_the_same_whatever_the_mass(void **state)
{
  (void)state;
  const kg_function two = constant_of(2), three = constant_of(3);
  const kg_function mass = {.kind = KG_FUNCTION_EXPRESSION, .expression = parsed("5+t")};
  kg_expression *u = parsed("sin(x)*y"), *f[2];
  char text[2][200];
  assert_int_equal(kg_expression_source(NULL, u, 2, 1, &two, &three, NULL, &f[0]), KEDGE_OK);
  assert_int_equal(kg_expression_source(NULL, u, 2, 1, &two, &three, &mass, &f[1]), KEDGE_OK);
  for (int i = 0; i < 2; ++i) {
    printed(f[i], text[i], sizeof text[i]);
    kg_expression_free(f[i]);
  }
  assert_string_equal(text[0], text[1]);
  kg_expression_free(mass.expression);
  kg_expression_free(u);
}

static void a_harmonic_function_has_no_source(void **state)
{
  (void)state;
  const kg_function two = constant_of(2), zero = constant_of(0);
  kg_expression *u = parsed("hypot(x,y)^(2/3)*sin(2/3*atan2(y,x))"), *f;
  assert_int_equal(kg_expression_source(NULL, u, 2, 1, &two, &zero, NULL, &f), KEDGE_OK);
  for (int i = 0; i < 20; ++i)
    assert_true(fabs(at(f, 0.1 + point(i, 0), 0.1 + point(i, 1))) <= 1e-12);
  kg_expression_free(u);
  kg_expression_free(f);
}

static void the_source_of_a_tensor_has_the_derivatives_of_all_its_parts(void **state)
{
  (void)state;
  static const char *const parts[] = {"2+sin(3*x)", "0.7*cos(x*y)", "1.5+y^2"};
  kg_function k[3], reaction = {.kind = KG_FUNCTION_EXPRESSION, .expression = parsed("1+x")};
  for (int i = 0; i < 3; ++i)
    k[i] = (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = parsed(parts[i])};
  kg_expression *u = parsed("x^2*y"), *f;
  assert_int_equal(kg_expression_source(NULL, u, 2, 3, k, &reaction, NULL, &f), KEDGE_OK);
  for (int i = 0; i < 10; ++i) {
    const double x = point(i, 0), y = point(i, 1), c = 0.7 * cos(x * y), s = 0.7 * sin(x * y);
    const double along =
        3 * cos(3 * x) * 2 * x * y + (2 + sin(3 * x)) * 2 * y - s * y * x * x + c * 2 * x;
    const double across = -s * x * 2 * x * y + c * 2 * x + 2 * y * x * x;
    const double expected = (1 + x) * x * x * y - along - across;
    assert_true(fabs(at(f, x, y) - expected) <= 1e-13 * (1 + fabs(expected)));
  }
  for (int i = 0; i < 3; ++i) kg_expression_free(k[i].expression);
  kg_expression_free(reaction.expression);
  kg_expression_free(u);
  kg_expression_free(f);
}

static void repeated_derivatives_grow_slowly_and_end_in_a_sentence(void **state)
{
  (void)state;
  kg_expression *e = parsed("exp(sin(x*y)/(1+x^2+y^2))*tanh(x/(2+y))^2"), *d = NULL;
  int32_t sizes[20];
  int n = 0;
  kedge_status status = KEDGE_OK;
  for (; n < 20; ++n) {
    sizes[n] = e->n_nodes;
    status = kg_expression_differentiate(NULL, e, "xy"[n % 2], &d);
    if (status != KEDGE_OK) break;
    kg_expression_free(e);
    e = d;
  }
  kg_expression_free(e);
  assert_true(n >= 4);           // what a source and its derivatives need
  assert_true(sizes[2] <= 300);  // second derivatives
  assert_int_equal(status, KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL),
                      "the derivative needs more than 10000 terms and operations; write it more "
                      "simply, or pass a function through the C API");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(register_code_agrees_with_the_tree),
      cmocka_unit_test(a_value_does_not_depend_on_its_place_in_the_block),
      cmocka_unit_test(many_live_values_shorten_the_block),
      cmocka_unit_test(the_branch_not_taken_leaves_no_trace),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(derivatives_have_their_known_form),
      cmocka_unit_test(the_source_of_a_product_of_sines_stays_one_product),
      cmocka_unit_test(sources_in_space_have_three_derivatives),
      cmocka_unit_test(the_source_of_what_moves_has_its_rate_times_the_mass),
      cmocka_unit_test(the_source_of_what_stands_is_the_same_whatever_the_mass),
      cmocka_unit_test(a_harmonic_function_has_no_source),
      cmocka_unit_test(the_source_of_a_tensor_has_the_derivatives_of_all_its_parts),
      cmocka_unit_test(repeated_derivatives_grow_slowly_and_end_in_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Expressions as CUDA C: the text, and what it computes once the host's compiler has taken it for
// C.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiled.h"
#include "expression_help.h"
#include "expression/expression_cuda.h"

enum { POINTS = 200 };

static kg_function function_of(const char *text)
{
  kg_expression *e = parsed(text);
  return (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = e};
}

/// What follows the helper, from `evaluate` on.
static void assert_emitted(int n, const kg_function *const *functions, const char *expected)
{
  char *text;
  if (kg_functions_emit(NULL, n, functions, &text) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(NULL));
  const char *evaluate = strstr(text, "static __device__ void evaluate");
  assert_non_null(evaluate);
  assert_string_equal(evaluate, expected);
  free(text);
}

static void assert_emitted_as(const char *expression, const char *body)
{
  char expected[1000];
  snprintf(expected, sizeof expected,
           "static __device__ void evaluate(double x, double y, double z, double region, double t, "
           "double *value)\n"
           "{\n%s}\n",
           body);
  const kg_function function = function_of(expression);
  const kg_function *const functions[] = {&function};
  assert_emitted(1, functions, expected);
  kg_expression_free(function.expression);
}

static void every_operation_is_a_local(void **state)
{
  (void)state;
  assert_emitted_as("x", "  value[0] = x;\n");
  assert_emitted_as("t", "  value[0] = t;\n");
  assert_emitted_as("z", "  value[0] = z;\n");
  assert_emitted_as("-2", "  value[0] = (-2.0);\n");
  assert_emitted_as("1e300*y", "  const double v3 = 1e+300 * y;\n  value[0] = v3;\n");
  assert_emitted_as("x^-3", "  const double v3 = integer_power(x, -3);\n  value[0] = v3;\n");
  assert_emitted_as("x^y", "  const double v3 = pow(x, y);\n  value[0] = v3;\n");
  assert_emitted_as("max(x,y)", "  const double v3 = x > y || x != x ? x : y;\n  value[0] = v3;\n");
  assert_emitted_as("x<y ? sin(x) : 0.5",
                    "  int angle = 0;\n"
                    "  const double v3 = x < y ? 1.0 : 0.0;\n"
                    "  const double v4 = circle(x, &angle).sine;\n"
                    "  const double v6 = v3 != 0.0 ? v4 : 0.5;\n"
                    "  value[0] = known(v6, angle);\n");
}

/// So no comparison can hide that an angle was too large for kedge's sine.
static void angles_are_looked_at_in_the_end(void **state)
{
  (void)state;
  assert_emitted_as("cos(x)*x^2",
                    "  int angle = 0;\n"
                    "  const double v3 = integer_power(x, 2);\n"
                    "  const double v4 = circle(x, &angle).cosine;\n"
                    "  const double v5 = v4 * v3;\n"
                    "  value[0] = known(v5, angle);\n");
  assert_emitted_as("hypot(cos(x),sin(2*pi*y))",
                    "  int angle = 0;\n"
                    "  const double v3 = 6.283185307179586 * y;\n"
                    "  const double v4 = circle_of_pi(2.0 * y, &angle).sine;\n"
                    "  const double v6 = circle(x, &angle).cosine;\n"
                    "  const double v7 = hypot(v6, v4);\n"
                    "  value[0] = known(v7, angle);\n");
}

static void multiples_of_pi_are_told_apart(void **state)
{
  (void)state;
  assert_emitted_as("sin(2*pi*x)",
                    "  int angle = 0;\n"
                    "  const double v3 = 6.283185307179586 * x;\n"
                    "  const double v4 = circle_of_pi(2.0 * x, &angle).sine;\n"
                    "  value[0] = known(v4, angle);\n");
  assert_emitted_as("cos(y*(-pi/4))",
                    "  int angle = 0;\n"
                    "  const double v3 = (-0.7853981633974483) * y;\n"
                    "  const double v4 = circle_of_pi((-0.25) * y, &angle).cosine;\n"
                    "  value[0] = known(v4, angle);\n");
  assert_emitted_as("sin(3*pi*x)",
                    "  int angle = 0;\n"
                    "  const double v3 = 9.42477796076938 * x;\n"
                    "  const double v4 = circle(v3, &angle).sine;\n"
                    "  value[0] = known(v4, angle);\n");
}

static void what_functions_share_is_computed_once(void **state)
{
  (void)state;
  kg_function u = function_of("sin(3*x)*y"),
              constant = {.kind = KG_FUNCTION_CONSTANT, .constant = 7};
  kg_function none = {.kind = KG_FUNCTION_NONE}, dy = {.kind = KG_FUNCTION_EXPRESSION};
  assert_int_equal(kg_expression_differentiate(NULL, u.expression, 'y', &dy.expression), KEDGE_OK);
  const kg_function *const functions[] = {&u, &constant, &none, &dy};
  assert_emitted(4, functions,
                 "static __device__ void evaluate(double x, double y, double z, double region, "
                 "double t, double *value)\n"
                 "{\n"
                 "  int angle = 0;\n"
                 "  const double v3 = 3.0 * x;\n"
                 "  const double v4 = circle(v3, &angle).sine;\n"
                 "  const double v6 = v4 * y;\n"
                 "  value[0] = known(v6, angle);\n"
                 "  value[1] = 7.0;\n"
                 "  value[2] = 0.0;\n"
                 "  value[3] = v4;\n"
                 "}\n");
  kg_expression_free(u.expression);
  kg_expression_free(dy.expression);
}

typedef void evaluate_function(double x, double y, double z, double region, double t,
                               double *value);

static bool same_value(double a, double b)
{
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static double coordinate(int i, double step)
{
  return i % 20 == 0 ? 0.125 * (i % 3 - 1) : 4.0 * fmod(0.37 + step * i, 1.0) - 2.0;
}

static void assert_same_values(const char *text, const kg_expression *e,
                               evaluate_function *evaluate)
{
  double x[POINTS], y[POINTS], z[POINTS], region[POINTS], expected[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = coordinate(i, 0.6180339887498949);
    y[i] = i % 9 == 0 ? x[i] : coordinate(i, 0.7548776662466927);
    z[i] = coordinate(i, 0.5698402909980532);
    region[i] = i % 5;
  }
  const double t = 0.375;
  kg_expression_evaluate(
      e, &(kedge_points){.n = POINTS, .x = x, .y = y, .z = z, .region = region, .t = t}, expected);
  for (int i = 0; i < POINTS; ++i) {
    double value = 0.0;
    evaluate(x[i], y[i], z[i], region[i], t, &value);
    if (!same_value(value, expected[i]))
      fail_msg("%s at %.17g, %.17g: %.17g, not %.17g", text, x[i], y[i], value, expected[i]);
  }
}

/// What the text calls: the host's functions.
static const char circle_of_host[] =
    "#define known(value, angle) ((void)angle, value)\n"
    "#define circle(a, angle) on_circle_at(a)\n"
    "#define circle_of_pi(a, angle) on_circle_at(3.14159265358979323846 * (a))\n"
    "struct on_circle { double sine, cosine; };\n"
    "static struct on_circle on_circle_at(double a)\n"
    "{\n"
    "  return (struct on_circle){sin(a), cos(a)};\n"
    "}\n";

/// All texts in one library: the functions are told apart by their numbers.
static void assert_same_as_host(int n, const char *const *texts)
{
  char *all;
  size_t size;
  FILE *out = open_memstream(&all, &size);
  kg_expression **e = calloc((size_t)n, sizeof *e);
  assert_true(out && e);
  fputs(circle_of_host, out);
  for (int i = 0; i < n; ++i) {
    e[i] = parsed(texts[i]);
    const kg_function function = {.kind = KG_FUNCTION_EXPRESSION, .expression = e[i]};
    const kg_function *const functions[] = {&function};
    char *text;
    assert_int_equal(kg_functions_emit(NULL, 1, functions, &text), KEDGE_OK);
    fprintf(out,
            "#define evaluate evaluate_%d\n#define integer_power integer_power_%d\n%s"
            "#undef evaluate\n#undef integer_power\n"
            "void call_%d(double x, double y, double z, double r, double t, double *v)\n"
            "{\n  evaluate_%d(x, y, z, r, t, v);\n}\n",
            i, i, text, i, i);
    free(text);
  }
  assert_int_equal(fclose(out), 0);
  void *const library = compiled(all);
  for (int i = 0; i < n; ++i) {
    char name[32];
    snprintf(name, sizeof name, "call_%d", i);
    evaluate_function *evaluate;
    void *const symbol = dlsym(library, name);
    memcpy(&evaluate, &symbol, sizeof symbol);
    assert_non_null(evaluate);
    assert_same_values(texts[i], e[i], evaluate);
    kg_expression_free(e[i]);
  }
  dlclose(library);
  free(all);
  free(e);
}

static void every_operation_gives_the_bits_of_the_host(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "x",
      "2.5",
      "-0.0*x",
      "x+y",
      "x*t-y",
      "x*z-y/z",
      "x-y",
      "x*y",
      "x/y",
      "-x",
      "x^2",
      "x^3",
      "x^-1",
      "x^-7",
      "x^31",
      "x^32",
      "x^33",
      "x^0.5",
      "x^y",
      "2^x",
      "sin(x)",
      "cos(x)",
      "tan(x)",
      "asin(x)",
      "acos(x)",
      "atan(x)",
      "sinh(x)",
      "cosh(x)",
      "tanh(x)",
      "exp(x)",
      "log(x)",
      "sqrt(x)",
      "region == 3 ? sin(x) : region*y",
      "abs(x)",
      "erf(x)",
      "log10(x)",
      "log2(x)",
      "cbrt(x)",
      "floor(x)",
      "ceil(x)",
      "round(x)",
      "sign(x)",
      "step(x)",
      "mod(x,y)",
      "atan2(y,x)",
      "min(x,y)",
      "max(x,y)",
      "hypot(x,y)",
      "pow(x,y)",
      "x<y",
      "x<=y",
      "x>y",
      "x>=y",
      "x==y",
      "x!=y",
      "x<y?x:y",
      "x?log(x):y",
      "min(0/x,y)",
      "max(y,0/x)",
      "min(y,0/x)",
      "1/x^2-1/y",
      "sigma*x+k*y^2",
      "0.1*x-1e-300*y",
      "123456789012345678*x",
      "(x-y)*(x+y)-(x^2-y^2)",
      "(8*pi^2+1)*sin(2*pi*x)*sin(2*pi*y)",
      "hypot(x,y)^(2/3)*sin(2/3*atan2(y,x))",
      "exp(-10*((x-.5)^2+(y-.5)^2))",
  };
  assert_same_as_host(sizeof texts / sizeof *texts, texts);
}

static unsigned draw(uint64_t *seed, unsigned n)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*seed >> 33) % n;
}

/// A random expression of at most `depth` nested operations.
static void write_random(FILE *out, uint64_t *seed, int depth)
{
  static const char *const leaves[] = {"x", "y", "2", "0.5", "3.25", "pi", "k", "sigma"};
  // Where $ stands comes another expression.
  static const char *const forms[] = {
      "($+$)",     "($-$)",        "$*$",           "$/$",          "(-$)",         "($)^2",
      "($)^3",     "($)^-2",       "sin($)",        "cos($)",       "exp(-abs($))", "atan($)",
      "tanh($)",   "sqrt(abs($))", "min($,$)",      "max($,$)",     "hypot($,$)",   "atan2($,$)",
      "($<$?$:$)", "($>=$?$:$)",   "pow(abs($),$)", "log(1+abs($))"};
  if (depth == 0 || draw(seed, 8) == 0) {
    fputs(leaves[draw(seed, sizeof leaves / sizeof *leaves)], out);
    return;
  }
  for (const char *c = forms[draw(seed, sizeof forms / sizeof *forms)]; *c; ++c) {
    if (*c == '$')
      write_random(out, seed, depth - 1);
    else
      fputc(*c, out);
  }
}

static void random_expressions_give_the_bits_of_the_host(void **state)
{
  (void)state;
  enum { MANY = 300 };
  char *texts[MANY];
  uint64_t seed = 20140512;
  for (int i = 0; i < MANY; ++i) {
    size_t size;
    FILE *out = open_memstream(&texts[i], &size);
    assert_non_null(out);
    write_random(out, &seed, 2 + i % 4);
    assert_int_equal(fclose(out), 0);
  }
  assert_same_as_host(MANY, (const char *const *)texts);
  for (int i = 0; i < MANY; ++i) free(texts[i]);
}

static void callers_function(void *user, const kedge_points *points, double *value)
{
  (void)user, (void)points, (void)value;
}

static void a_callers_function_is_refused(void **state)
{
  (void)state;
  const kg_function function = {.kind = KG_FUNCTION_CALLER, .function = callers_function};
  const kg_function *const functions[] = {&function};
  char *text;
  assert_int_equal(kg_functions_emit(NULL, 1, functions, &text), KEDGE_ERR_UNSUPPORTED);
  assert_null(text);
  assert_string_equal(kedge_context_error(NULL),
                      "a function of the calling program cannot be evaluated on the GPU");
}

/// sin(0.5 x) + ... + sin((n - 0.5) x): 3 n - 1 operations.
static kg_function long_sum(int n)
{
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  for (int i = 0; i < n; ++i) fprintf(out, "%ssin(%d.5*x)", i ? "+" : "", i);
  assert_int_equal(fclose(out), 0);
  const kg_function function = function_of(text);
  free(text);
  return function;
}

static void what_would_compile_too_long_is_refused(void **state)
{
  (void)state;
  enum { MOST = (KG_EMITTED_MAX + 1) / 3 };
  kg_function fits = long_sum(MOST), too_long = long_sum(MOST + 1);
  const kg_function *const just[] = {&fits}, *const beyond[] = {&too_long};
  char *text, sentence[100];
  assert_int_equal(kg_functions_emit(NULL, 1, just, &text), KEDGE_OK);
  free(text);
  assert_int_equal(kg_functions_emit(NULL, 1, beyond, &text), KEDGE_ERR_UNSUPPORTED);
  assert_null(text);
  snprintf(sentence, sizeof sentence,
           "more than %d operations take too long to compile for the GPU", KG_EMITTED_MAX);
  assert_string_equal(kedge_context_error(NULL), sentence);
  kg_expression_free(fits.expression);
  kg_expression_free(too_long.expression);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_is_a_local),
      cmocka_unit_test(angles_are_looked_at_in_the_end),
      cmocka_unit_test(multiples_of_pi_are_told_apart),
      cmocka_unit_test(what_functions_share_is_computed_once),
      cmocka_unit_test(every_operation_gives_the_bits_of_the_host),
      cmocka_unit_test(random_expressions_give_the_bits_of_the_host),
      cmocka_unit_test(a_callers_function_is_refused),
      cmocka_unit_test(what_would_compile_too_long_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

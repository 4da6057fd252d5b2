// Formulas interpreted on a GPU: the values of the host.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "case.h"
#include "compare.h"
#include "ops/sample/evaluate.h"
#include "problem/expression_text.h"
#include "expression/function.h"

#ifdef KEDGE_WITH_CUDA

static kedge_context *ctx, *host;

static int open_contexts(void **state)
{
  (void)state;
  ctx = open_backend(KEDGE_BACKEND_CUDA, 2);
  host = open_backend(KEDGE_BACKEND_HOST, 2);
  return 0;
}

static int close_contexts(void **state)
{
  (void)state;
  kedge_context_destroy(host);
  kedge_context_destroy(ctx);
  return 0;
}

enum { SET = 3 };

static const double time_of_all = 0.375;

/// Texts as functions and as code.
typedef struct formulas {
  int n;
  kg_function function[SET];
  const kg_function *pointer[SET];
  kg_point_code code;
} formulas;

static void open_formulas(int n, const char *const *texts, formulas *f)
{
  kg_program program;
  f->n = n;
  for (int i = 0; i < n; ++i) {
    f->function[i] = (kg_function){.kind = KG_FUNCTION_EXPRESSION};
    f->pointer[i] = &f->function[i];
    must(ctx, expression_parse(ctx, texts[i], NULL, 0, &f->function[i].expression));
    kg_function_set_time(&f->function[i], time_of_all);
  }
  must(ctx, kg_functions_compile(ctx, n, f->pointer, &program));
  must(ctx, kg_point_code_of(ctx, &program, KG_CODE_ROWS, &f->code));
  kg_point_code_set_time(&f->code, time_of_all);
  kg_program_free(&program);
}

static void close_formulas(formulas *f)
{
  for (int i = 0; i < f->n; ++i) kg_expression_free(f->function[i].expression);
}

/// Groups [first, first + count) by the GPU; values to be freed.
static double *interpreted(op_case *c, const formulas *f, int32_t first, int32_t count,
                           int64_t *bad)
{
  const size_t n = (size_t)count * (size_t)f->n * (size_t)c->sampling.n * KG_LANES;
  double *const values = case_output(c, n);
  must(ctx, kg_evaluate(ctx, &(kg_evaluate_args){.batch = c->batch,
                                                 .points = c->points,
                                                 .first_group = first,
                                                 .n_groups = count,
                                                 .code = &f->code,
                                                 .values = values}));
  must(ctx, kg_evaluate_bad(ctx, bad));
  double *copy = case_fetch(c, values);
  case_release(c);
  return copy;
}

/// Each function is compared with its own largest value.
static void assert_as_on_host(int elements, int order, int n, const char *const *texts,
                              double tolerance)
{
  static const char *const names[SET] = {"a", "b", "c"};
  op_case c;
  formulas f;
  open_formulas(n, texts, &f);
  case_create(&c, ctx, elements, order, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  const size_t row = (size_t)c.sampling.n * KG_LANES;
  const int32_t first = c.layout.count.n_groups > 1, count = c.layout.count.n_groups - first;
  const kg_sample_set set = {n, f.pointer, names, ""};
  double *expected = malloc((size_t)count * (size_t)n * row * sizeof *expected);
  assert_non_null(expected);
  const kg_points points = kg_sampling_points(&c.sampling);
  must(host, kg_sample(host, kg_triangle_places(&points, c.mesh), first, count, &set, expected));
  int64_t bad;
  double *values = interpreted(&c, &f, first, count, &bad);
  assert_int_equal(bad, -1);
  for (size_t at = 0; at < (size_t)count * (size_t)n; ++at)
    if (tolerance > 0.0)
      assert_close(row, values + at * row, expected + at * row, tolerance);
    else
      assert_memory_equal(values + at * row, expected + at * row, row * sizeof *values);
  free(values);
  free(expected);
  close_formulas(&f);
  case_destroy(&c);
}

static const char *const arithmetic[] = {
    "x+y*x-2.5/(y+9)+(x<y ? x : -y)+x^3-(y+9)^-5+abs(x)+sqrt(x*x)",
    "(x<y)+(x<=y)+(x>y)+(x>=y)+(x==y)+(x!=y)+min(x,y)*max(x,y)", "y+x*t"};

static void arithmetic_is_that_of_the_host_to_the_last_bit(void **state)
{
  (void)state;
  const int sizes[] = {1, 33, 1000};
  for (int i = 0; i < (test_is_quick() ? 1 : 3); ++i)
    for (int order = 1; order <= KEDGE_ORDER_MAX; order += test_is_quick() ? 11 : 3)
      assert_as_on_host(sizes[i], order, 3, arithmetic, 0.0);
}

static void every_function_is_that_of_the_host_to_rounding(void **state)
{
  (void)state;
  static const char *const calls[] = {
      "sin(7*x)",     "cos(7*y)",        "tan(x/9)",
      "asin(x/99)",   "acos(y/99)",      "atan(x)",
      "sinh(x)",      "cosh(y)",         "tanh(x)",
      "exp(x-y)",     "log(2+x*x)",      "(2+x*x)^y",
      "(2+y)^40",     "atan2(y,9+x)",    "hypot(x,y)",
      "sqrt(x^2)",    "sin(100000*x+y)", "erf(x)",
      "log10(2+x*x)", "log2(2+y*y)",     "cbrt(x-y)",
      "mod(x,2+y*y)", "sign(x)+step(y)", "floor(9*x+0.123)+ceil(7*y+0.321)+round(5*x-0.234)"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
    assert_as_on_host(33, 2, 1, calls + i, 1e-11);  // the argument of the last one has rounded
}

/// Where all angles are moderate, where some are not, and where none is; also of both together.
static void sines_and_cosines_of_any_angle_are_those_of_the_host(void **state)
{
  (void)state;
  static const char *const sets[][SET] = {
      {"sin(7*x)*sin(5*y)", "7*cos(7*x)*sin(5*y)", "5*sin(7*x)*cos(5*y)"},
      {"cos(2*x)+sin(2*x)", "sin(2*x)", "x-cos(2*x)"},
      {"sin(x*(x<y ? 1e17 : 1))", "cos(x*(x<y ? 1e17 : 1))", "sin(sin(x))+cos(cos(x))"},
      {"cos(1e17+1e18*x)", "sin(1e17+1e18*x)*y", "sin(cos(x))"}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
    for (int order = 1; order <= 3; ++order) assert_as_on_host(33, order, SET, sets[i], 1e-14);
}

static void many_temporaries_and_constants_find_their_places(void **state)
{
  (void)state;
  // A balanced sum of products needs a temporary a level; 100 constants.
  char text[4000] = "";
  size_t at = 0;
  for (int i = 0; i < 50; ++i)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s(x-%d.25)/(y+%d.5)", i ? "+" : "", i,
                           i + 60);
  const char *const texts[] = {text};
  assert_as_on_host(33, 3, 1, texts, 0.0);
}

static void the_first_bad_value_is_named(void **state)
{
  (void)state;
  op_case c;
  formulas f;
  case_create(&c, ctx, 129, 2, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  const double *corner = c.layout.host.vertices + 2 * (size_t)c.layout.host.vertex[KG_LANES * 7];
  char text[200];
  snprintf(text, sizeof text, "1/((x-(%.17g))^2+(y-(%.17g))^2)", corner[0], corner[1]);
  const char *const texts[] = {text, "x"};
  open_formulas(2, texts, &f);
  int64_t bad, smallest = 0;
  double *values = interpreted(&c, &f, 0, c.layout.count.n_groups, &bad);
  while (isfinite(values[smallest])) ++smallest;
  assert_true(smallest > 0);
  assert_int_equal(bad, smallest);
  free(values);
  close_formulas(&f);
  case_destroy(&c);
}

int main(void)
{
  test_skip_without_backend();
  if (test_backend() != KEDGE_BACKEND_CUDA) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_is_that_of_the_host_to_the_last_bit),
      cmocka_unit_test(every_function_is_that_of_the_host_to_rounding),
      cmocka_unit_test(sines_and_cosines_of_any_angle_are_those_of_the_host),
      cmocka_unit_test(many_temporaries_and_constants_find_their_places),
      cmocka_unit_test(the_first_bad_value_is_named),
  };
  return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

#else

int main(void)
{
  return 77;  // only a GPU interprets
}

#endif

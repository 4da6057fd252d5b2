// The time in expressions and functions: it is no coordinate, and no constant.
#include "compare.h"
#include "expression/expression_tree.h"
#include "expression/function.h"
#include "expression_help.h"

enum { POINTS = 700 };  // some blocks of points, the last of them short

static kg_function function_of(const char *text)
{
  return (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = parsed(text)};
}

static double value_at(const kg_function *f, double x, double y)
{
  const double region = 2;
  double value = NAN;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y, .region = &region, .t = 99},
                       &value);
  return value;
}

static void all_points_of_a_call_have_its_time(void **state)
{
  (void)state;
  kg_expression *e = parsed("(x+t)*(y-t)/(1+t^2)");
  double x[POINTS], y[POINTS], value[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = 0.01 * i - 2.0;
    y[i] = 1.0 / (i + 1);
  }
  static const double times[] = {0.0, 0.375, -3.0};
  for (int k = 0; k < 3; ++k) {
    const double t = times[k];
    kg_expression_evaluate(e, &(kedge_points){.n = POINTS, .x = x, .y = y, .t = t}, value);
    for (int i = 0; i < POINTS; ++i) assert_true(value[i] == (x[i] + t) * (y[i] - t) / (1 + t * t));
  }
  kg_expression_free(e);
}

static void the_time_is_not_folded(void **state)
{
  (void)state;
  kg_expression *e = parsed("2*t+1");
  double value;
  assert_false(kg_expression_constant(e, &value));
  assert_true(kg_expression_uses(e, KG_OP_T));
  kg_expression_free(e);
  e = parsed("t-t+0*t+1");
  assert_true(kg_expression_constant(e, &value));
  assert_true(value == 1);
  kg_expression_free(e);
}

static void a_constant_called_t_hides_the_time(void **state)
{
  (void)state;
  const kg_constant thickness = {"t", 0.5};
  kg_expression *e;
  double value;
  assert_int_equal(expression_parse(NULL, "4*t", &thickness, 1, &e), KEDGE_OK);
  assert_true(kg_expression_constant(e, &value));
  assert_true(value == 2);
  kg_expression_free(e);
}

static void a_function_has_a_time_of_its_own(void **state)
{
  (void)state;
  kg_function f = function_of("x+10*t"), copy;
  assert_true(value_at(&f, 0.5, 0) == 0.5);  // 0 at first
  kg_function_set_time(&f, 2);
  assert_true(value_at(&f, 0.5, 0) == 20.5);
  assert_int_equal(kg_function_copy(NULL, &f, &copy), KEDGE_OK);
  kg_function_set_time(&f, 3);
  assert_true(value_at(&copy, 0.5, 0) == 20.5);
  assert_true(value_at(&f, 0.5, 0) == 30.5);
  kg_function_free(&copy);
  kg_function_free(&f);
}

static void tell_the_time(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->t;
}

static void parts_and_functions_of_the_caller_get_the_time(void **state)
{
  (void)state;
  kg_region_function part = {.tag = 2,
                             .function = {.kind = KG_FUNCTION_CALLER, .function = tell_the_time}};
  kg_function all = {.kind = KG_FUNCTION_REGIONS, .n_regions = 1, .regions = &part};
  kg_function_set_time(&part.function, 1);
  assert_true(value_at(&part.function, 0, 0) == 1);
  kg_function_set_time(&all, 0.25);
  assert_true(value_at(&all, 0, 0) == 0.25);
}

static void who_has_t_in_it_is_known(void **state)
{
  (void)state;
  kg_function f = function_of("x+t"), g = function_of("x*y"),
              constant = {.kind = KG_FUNCTION_CONSTANT},
              caller = {.kind = KG_FUNCTION_CALLER, .function = tell_the_time};
  kg_region_function part = {.tag = 2, .function = f};
  const kg_function all = {.kind = KG_FUNCTION_REGIONS, .n_regions = 1, .regions = &part};
  assert_true(kg_function_uses_t(&f));
  assert_true(kg_function_uses_t(&all));
  assert_false(kg_function_uses_t(&g));
  assert_false(kg_function_uses_t(&constant));
  assert_false(kg_function_uses_t(&caller));
  kg_function_free(&f);
  kg_function_free(&g);
}

static void what_has_t_alone_is_one_number_in_each_region(void **state)
{
  (void)state;
  kg_function f = function_of("1+t");
  assert_false(kg_function_varies(&f));
  kg_function_free(&f);
}

static void functions_that_are_compiled_together_share_the_time(void **state)
{
  (void)state;
  const kg_function f = function_of("sin(x*t)"), g = function_of("t"), h = function_of("cos(x*t)");
  const kg_function *const functions[] = {&f, &g, &h};
  kg_program program;
  assert_int_equal(kg_functions_compile(NULL, 3, functions, &program), KEDGE_OK);
  assert_int_equal(program.n_instructions, 4);  // x t, sin, copy, cos
  const double x[2] = {0.5, 1.5}, y[2] = {0};
  double value[6];
  kg_program_run(&program, &(kedge_points){.n = 2, .x = x, .y = y, .t = 0.75}, NULL, value);
  for (int i = 0; i < 2; ++i) {
    assert_true(value[i] == sin(x[i] * 0.75));
    assert_true(value[2 + i] == 0.75);
    assert_true(value[4 + i] == cos(x[i] * 0.75));
  }
  kg_program_free(&program);
  for (int i = 0; i < 3; ++i) kg_expression_free(functions[i]->expression);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_points_of_a_call_have_its_time),
      cmocka_unit_test(the_time_is_not_folded),
      cmocka_unit_test(a_constant_called_t_hides_the_time),
      cmocka_unit_test(a_function_has_a_time_of_its_own),
      cmocka_unit_test(parts_and_functions_of_the_caller_get_the_time),
      cmocka_unit_test(who_has_t_in_it_is_known),
      cmocka_unit_test(what_has_t_alone_is_one_number_in_each_region),
      cmocka_unit_test(functions_that_are_compiled_together_share_the_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

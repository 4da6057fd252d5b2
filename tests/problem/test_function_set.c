// Functions that are evaluated together, and their register code as an argument of a kernel.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "expression_help.h"
#include "ops/sample/evaluate.h"
#include "expression/function.h"

enum { POINTS = 700, SET = 5 };  // some blocks of points, the last of them short

static kg_function function_of(const char *text)
{
  return (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = parsed(text)};
}

/// Compile a set; fails the test when it is refused.
static kg_program compiled(int n, const kg_function *const *functions)
{
  kg_program program;
  if (kg_functions_compile(NULL, n, functions, &program) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(NULL));
  return program;
}

static void a_set_gives_the_values_of_its_functions_to_the_last_bit(void **state)
{
  (void)state;
  static const char *const texts[SET] = {"sin(3*x)*cos(y)", "3*cos(3*x)*cos(y)+k", "sin(3*x)", "x",
                                         "sin(3*x)*cos(y)"};  // parts, and a whole, of others
  kg_function function[SET];
  const kg_function *pointers[SET];
  double x[POINTS], y[POINTS], together[SET * POINTS], alone[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = 0.01 * i - 2.0;
    y[i] = 1.0 / (i + 1);
  }
  for (int f = 0; f < SET; ++f) {
    function[f] = function_of(texts[f]);
    pointers[f] = &function[f];
  }
  kg_program program = compiled(SET, pointers);
  assert_int_equal(program.n_results, SET);
  kg_program_run(&program, &(kedge_points){.n = POINTS, .x = x, .y = y}, NULL, together);
  for (int f = 0; f < SET; ++f) {
    kg_function_evaluate(&function[f], &(kedge_points){.n = POINTS, .x = x, .y = y}, alone);
    assert_memory_equal(together + f * POINTS, alone, sizeof alone);
    kg_expression_free(function[f].expression);
  }
  kg_program_free(&program);
}

static void what_functions_share_is_one_instruction(void **state)
{
  (void)state;
  const kg_function u = function_of("sin(x)*sin(y)"), dx = function_of("cos(x)*sin(y)"),
                    constant = {.kind = KG_FUNCTION_CONSTANT, .constant = 2.5};
  const kg_function *const functions[] = {&u, &dx, &constant};
  kg_program program = compiled(3, functions);
  assert_int_equal(program.n_instructions, 6);  // sin x, sin y, *, cos x, *, copy
  kg_program_free(&program);
  kg_expression_free(u.expression);
  kg_expression_free(dx.expression);
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
  kg_program program;
  assert_int_equal(kg_functions_compile(NULL, 1, functions, &program), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(kedge_context_error(NULL),
                      "a function of the calling program cannot be evaluated on the GPU");
}

static void code_for_a_kernel_has_rows_and_constants(void **state)
{
  (void)state;
  const kg_function f = function_of("x<2.5 ? x^-3 : y");
  const kg_function *const functions[] = {&f};
  kg_program program = compiled(1, functions);
  kg_point_code *code = malloc(sizeof *code);
  assert_non_null(code);
  assert_int_equal(kg_point_code_of(NULL, &program, KG_CODE_ROWS, code), KEDGE_OK);
  assert_int_equal(code->n_instructions, 3);
  assert_int_equal(code->n_rows, 2 + program.n_temporaries + 1);
  const kg_code_instruction *last = &code->instruction[2];
  assert_int_equal(last->op, KG_OP_CHOOSE);
  assert_int_equal(last->result, code->n_rows - 1);
  assert_int_equal(last->operand[2], 1);
  for (int k = 0; k < 2; ++k) {
    const kg_code_instruction *in = &code->instruction[k];
    if (in->op == KG_PROGRAM_INTEGER_POWER) {
      assert_int_equal(in->exponent, -3);
    } else {
      assert_int_equal(in->op, KG_OP_LESS);
      assert_in_range(in->operand[1], KG_CODE_ROWS, KG_CODE_ROWS + KG_CODE_CONSTANTS - 1);
      assert_true(code->constant[in->operand[1] - KG_CODE_ROWS] == 2.5);
    }
  }
  free(code);
  kg_program_free(&program);
  kg_expression_free(f.expression);
}

static void code_has_the_time_among_its_constants(void **state)
{
  (void)state;
  const kg_function f = function_of("2.5*x+t"), still = function_of("2.5*x");
  const kg_function *const functions[] = {&f, &still};
  kg_point_code *code = malloc(sizeof *code);
  assert_non_null(code);
  for (int i = 0; i < 2; ++i) {
    kg_program program = compiled(1, &functions[i]);
    assert_int_equal(kg_point_code_of(NULL, &program, KG_CODE_ROWS, code), KEDGE_OK);
    kg_point_code_set_time(code, 0.75);
    assert_int_equal(code->n_rows, 2 + program.n_temporaries + 1);
    assert_int_equal(code->time, i == 0 ? 2 : -1);  // behind the 0 that every builder has
    assert_true(code->constant[1] == 2.5);
    assert_true(code->constant[2] == (i == 0 ? 0.75 : 0.0));
    kg_program_free(&program);
    kg_expression_free(functions[i]->expression);
  }
  free(code);
}

/// The code of sets of functions; to be freed.
static kg_point_code *code_of(int n, const char *const *texts)
{
  kg_function f[3];
  const kg_function *functions[3];
  for (int i = 0; i < n; ++i) {
    f[i] = function_of(texts[i]);
    functions[i] = &f[i];
  }
  kg_program program = compiled(n, functions);
  kg_point_code *code = malloc(sizeof *code);
  assert_non_null(code);
  assert_int_equal(kg_point_code_of(NULL, &program, KG_CODE_ROWS, code), KEDGE_OK);
  kg_program_free(&program);
  for (int i = 0; i < n; ++i) kg_expression_free(f[i].expression);
  return code;
}

static int count_of(const kg_point_code *code, int op)
{
  int n = 0;
  for (int k = 0; k < code->n_instructions; ++k) n += code->instruction[k].op == op;
  return n;
}

static void code_makes_sine_and_cosine_of_an_angle_together(void **state)
{
  (void)state;
  const char *const texts[] = {"sin(2*x)*sin(3*y)", "2*cos(2*x)*sin(3*y)", "3*sin(2*x)*cos(3*y)"};
  kg_point_code *code = code_of(3, texts);
  assert_int_equal(count_of(code, KG_CODE_CIRCLE), 2);
  assert_int_equal(count_of(code, KG_OP_SIN) + count_of(code, KG_OP_COS), 0);
  free(code);
  const char *const others[] = {"sin(x)", "cos(y)", "sin(2*x)"};
  code = code_of(3, others);
  assert_int_equal(count_of(code, KG_CODE_CIRCLE), 0);
  assert_int_equal(count_of(code, KG_OP_SIN), 2);
  assert_int_equal(count_of(code, KG_OP_COS), 1);
  free(code);
}

static void assert_too_many(int rows)
{
  char sentence[160];
  snprintf(sentence, sizeof sentence,
           "more than %d operations, %d constants or %d values of a point are too many to "
           "interpret on this GPU",
           KG_CODE_INSTRUCTIONS, KG_CODE_CONSTANTS, rows);
  assert_string_equal(kedge_context_error(NULL), sentence);
}

static void code_that_a_small_gpu_has_no_room_for_is_refused(void **state)
{
  (void)state;
  const kg_function f = function_of("x<2.5 ? x^-3 : y");
  const kg_function *const functions[] = {&f};
  kg_program program = compiled(1, functions);
  const int rows = 2 + program.n_temporaries + 1;
  kg_point_code *code = malloc(sizeof *code);
  assert_non_null(code);
  assert_int_equal(kg_point_code_of(NULL, &program, rows, code), KEDGE_OK);
  assert_int_equal(kg_point_code_of(NULL, &program, rows - 1, code), KEDGE_ERR_UNSUPPORTED);
  assert_too_many(rows - 1);
  free(code);
  kg_program_free(&program);
  kg_expression_free(f.expression);
}

static void code_that_is_no_argument_of_a_kernel_is_refused(void **state)
{
  (void)state;
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  for (int i = 0; i <= KG_CODE_INSTRUCTIONS / 2; ++i) fprintf(out, "%ssin(x)^y", i ? "/" : "");
  assert_int_equal(fclose(out), 0);
  const kg_function f = function_of(text);
  free(text);
  const kg_function *const functions[] = {&f};
  kg_program program = compiled(1, functions);
  program.n_instructions = KG_CODE_INSTRUCTIONS + 1;
  kg_point_code *code = malloc(sizeof *code);
  assert_non_null(code);
  assert_int_equal(kg_point_code_of(NULL, &program, KG_CODE_ROWS, code), KEDGE_ERR_UNSUPPORTED);
  assert_too_many(KG_CODE_ROWS);
  free(code);
  kg_program_free(&program);
  kg_expression_free(f.expression);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_set_gives_the_values_of_its_functions_to_the_last_bit),
      cmocka_unit_test(what_functions_share_is_one_instruction),
      cmocka_unit_test(a_callers_function_is_refused),
      cmocka_unit_test(code_for_a_kernel_has_rows_and_constants),
      cmocka_unit_test(code_has_the_time_among_its_constants),
      cmocka_unit_test(code_makes_sine_and_cosine_of_an_angle_together),
      cmocka_unit_test(code_that_a_small_gpu_has_no_room_for_is_refused),
      cmocka_unit_test(code_that_is_no_argument_of_a_kernel_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

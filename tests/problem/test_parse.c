// Precedence, messages with columns, printing. Most of it is a table of texts a claim,
// hence its length.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "comma_locale.h"
#include "expression_help.h"
#include "core/number.h"

static void operators_bind_as_documented(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"2*3+1", 7},
      {"7-4-2", 1},
      {"7-(4-2)", 5},
      {"24/4/2", 3},
      {"24/4*2", 12},
      {"24/(4*2)", 3},
      {"2^3^2", 512},
      {"(2^3)^2", 64},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-2", 0.25},
      {"2^-2^2", 0.0625},
      {"2*-3", -6},
      {"2--3", 5},
      {"2+-3", -1},
      {"+4", 4},
      {"- -4", 4},
      {"6/-3", -2},
      {"1+1<3", 1},
      {"3<1+1", 0},
      {"2<=2", 1},
      {"2>=3", 0},
      {"2>1", 1},
      {"2==2", 1},
      {"2!=2", 0},
      {"(1<2)==1", 1},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 3", 3},
      {"0 ? 1 : 0 ? 2 : 3", 3},
      {"1 ? 0 ? 4 : 5 : 6", 5},
      {"1<2 ? 10 : 20", 10},
      {"(1 ? 2 : 3) + 1", 3},
      {"1 ? 2 : 3 + 1", 2},
      {"2*pi/pi", 2},
      {"k*2", 5},
      {"8*sigma", -1},
      {"pow(2, 3)", 8},
      {"min(3, 2)", 2},
      {"max(3, 2)", 3},
      {"hypot(3, 4)", 5},
      {"abs(-3)", 3},
      {"sqrt(16)", 4},
      {"atan2(0, 1)", 0},
      {"exp(0)", 1},
      {"log(1)", 0},
      {"cosh(0)", 1},
      {".5", 0.5},
      {"5.", 5},
      {"1e2", 100},
      {"1.5E-1", 0.15},
      {"1e+2", 100},
      {"\t 1 +\r\n 2 ", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const double value = value_of(cases[i].text, 0, 0);
    if (!is_close(value, cases[i].value, 2)) fail_msg("%s gives %.17g", cases[i].text, value);
  }
}

static void numbers_are_read_to_the_last_bit(void **state)
{
  (void)state;
  assert_true(value_of("0.1", 0, 0) == 0.1);
  assert_true(value_of("2.2250738585072014e-308", 0, 0) == 2.2250738585072014e-308);
  assert_true(value_of("1.7976931348623157e308", 0, 0) == 1.7976931348623157e308);
  assert_true(value_of("179769313486231570000000000000000000000e270", 0, 0) ==
              1.7976931348623157e308);
}

#define AND_HINT "for 'and' multiply the two comparisons: (a < b)*(c < d)"
#define OR_HINT  "for 'or' take the max of the two comparisons: max(a < b, c < d)"

static void every_error_names_its_column(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"", "unexpected end at column 1: expected a number, a name or '('"},
      {"   ", "unexpected end at column 4: expected a number, a name or '('"},
      {"1+", "unexpected end at column 3: expected a number, a name or '('"},
      {"1+*2", "unexpected '*' at column 3: expected a number, a name or '('"},
      {"x y", "unexpected 'y' at column 3: expected an operator (write '*' between two factors)"},
      {"2x", "unexpected 'x' at column 2: expected an operator (write '*' between two factors)"},
      {"2(x)", "unexpected '(' at column 2: expected an operator (write '*' between two factors)"},
      {"x(2)", "'x' is not a function at column 1: write '*' between two factors"},
      {"1 2.5", "unexpected '2.5' at column 3: expected an operator"},
      {"1..5", "unexpected '.5' at column 3: expected an operator"},
      {"0x10",
       "unexpected 'x10' at column 2: expected an operator (write '*' between two factors)"},
      {"1e999", "the number '1e999' is too large at column 1: the largest is about 1.8e308"},
      {"1+sinn(x)", "unknown function 'sinn' at column 3: did you mean 'sin'?"},
      {"SIN(x)", "unknown function 'SIN' at column 1: did you mean 'sin'?"},
      {"arctan(x)", "unknown function 'arctan' at column 1: did you mean 'atan'?"},
      {"gamma(x)",
       "unknown function 'gamma' at column 1: 'kedge help expressions' lists the functions"},
      {"bessel(x)",
       "unknown function 'bessel' at column 1: 'kedge help expressions' lists the functions"},
      {"sgn(x)", "unknown function 'sgn' at column 1: did you mean 'sign'?"},
      {"1+ln(x)", "unknown function 'ln' at column 3: did you mean 'log'?"},
      {"w+1",
       "unknown name 'w' at column 1: known here are x, y, z, t, region, pi, sigma; others are set "
       "in "
       "[parameters], above those that use them"},
      {"1+sigmo", "unknown name 'sigmo' at column 3: did you mean 'sigma'?"},
      {"1+np.sin(x)", "unknown name 'np' at column 3: leave 'np.' out, as in sin(x) and pi"},
      {"PI", "unknown name 'PI' at column 1: did you mean 'pi'?"},
      {"2*e^x",
       "unknown name 'e' at column 3: e^x is written exp(x), and e is exp(1); names of your own "
       "are set in [parameters]"},
      {"sin + 1", "the function 'sin' without '(' at column 1: its arguments follow in brackets"},
      {"sin()", "unexpected ')' at column 5: expected a number, a name or '('"},
      {"sin(x", "unexpected end at column 6: expected the ',' or ')' that closes '(' at column 4"},
      {"sin(x, y)", "'sin' takes 1 argument but has 2 at column 1"},
      {"1+atan2(x)", "'atan2' takes 2 arguments but has 1 at column 3"},
      {"min(1,2,3,4)", "'min' takes 2 arguments but has 4 at column 1"},
      {"(x+1", "unexpected end at column 5: expected the ')' that closes '(' at column 1"},
      {"((x+1)", "unexpected end at column 7: expected the ')' that closes '(' at column 1"},
      {"x+1)", "unexpected ')' at column 4: no '(' is open here"},
      {"(x, y)", "unexpected ',' at column 3: expected the ')' that closes '(' at column 1"},
      {"x**2", "unexpected '**' at column 2: powers are written '^'"},
      {"x = 1", "unexpected '=' at column 3: comparisons for equality are written '=='"},
      {"x < 1 && y < 1", "unexpected '&' at column 7: " AND_HINT},
      {"(x < 1 && y < 1) ? 1 : 0", "unexpected '&' at column 8: " AND_HINT},
      {"x < 1 and y < 1", "unexpected 'and' at column 7: " AND_HINT},
      {"x < 1 || y < 1", "unexpected '|' at column 7: " OR_HINT},
      {"max(x < 1 or y < 1, 2)", "unexpected 'or' at column 11: " OR_HINT},
      {"0 < x < 1",
       "comparisons cannot be chained: unexpected '<' at column 7: write (a < b)*(b < c) or use "
       "brackets"},
      {"x ? 1", "unexpected end at column 6: expected the ':' that belongs to '?' at column 3"},
      {"x ? : 1", "unexpected ':' at column 5: expected a number, a name or '('"},
      {"1 : 2", "unexpected ':' at column 3: expected an operator"},
      {"x + \xc3\xa9", "unexpected '\xc3\xa9' at column 5: expected a number, a name or '('"},
      {"x \xc3\xa9 + $", "unexpected '\xc3\xa9' at column 3: expected an operator"},
      {"x + \xff", "unexpected byte 0xff at column 5: expected a number, a name or '('"},
      {"x +\n  y $", "unexpected '$' at line 2, column 5: expected an operator"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    static const kg_constant constants[] = {{"sigma", 1}};
    kg_expression *e = (kg_expression *)&e;  // must become NULL
    const kedge_status status = expression_parse(NULL, cases[i][0], constants, 1, &e);
    assert_int_equal(status, KEDGE_ERR_INPUT);
    assert_null(e);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
}

static void columns_count_characters_not_bytes(void **state)
{
  (void)state;
  int lines;
  assert_int_equal(kg_text_column("\xc3\xa9\xe2\x82\xac+x", 5, &lines), 3);
  assert_int_equal(lines, 0);
  assert_int_equal(kg_text_column("ab\ncd", 4, &lines), 2);
  assert_int_equal(lines, 1);
}

static char *repeated(const char *before, int n, const char *middle, const char *after)
{
  const size_t nb = strlen(before), nm = strlen(middle), na = strlen(after), count = (size_t)n;
  char *const text = malloc(count * (nb + na) + nm + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; ++i) memcpy(text + i * nb, before, nb);
  memcpy(text + count * nb, middle, nm);
  for (size_t i = 0; i < count; ++i) memcpy(text + count * nb + nm + i * na, after, na);
  text[count * (nb + na) + nm] = '\0';
  return text;
}

static void deep_nesting_is_refused_not_a_crash(void **state)
{
  (void)state;
  static const char *const before[] = {"(", "-", "sin(", "x^", "x?y:", "2*(", "x<1 ? ("};
  static const char *const after[] = {")", "", ")", "", "", ")", ") : 0"};
  for (size_t i = 0; i < sizeof before / sizeof *before; ++i) {
    char *const deep = repeated(before[i], 100000, "x", after[i]);
    char *const fits = repeated(before[i], 60, "x", after[i]);
    kg_expression *e;
    assert_int_equal(expression_parse(NULL, deep, NULL, 0, &e), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(NULL), "the expression is nested too deeply at"));
    assert_int_equal(expression_parse(NULL, fits, NULL, 0, &e), KEDGE_OK);
    kg_expression_free(e);
    free(deep);
    free(fits);
  }
}

static void long_chains_need_no_stack(void **state)
{
  (void)state;
  char *const sum = repeated("cos(y)*x/y-", 2000, "x", "");
  kg_expression *e = parsed(sum), *d;
  static char text[1 << 20];
  printed(e, text, sizeof text);
  assert_int_equal(kg_expression_differentiate(NULL, e, 'y', &d), KEDGE_OK);
  kg_expression_free(d);
  kg_expression_free(e);
  free(sum);
}

static void too_many_terms_are_refused(void **state)
{
  (void)state;
  char *const text = malloc(40 * 20000);
  assert_non_null(text);
  size_t length = 0;
  for (int i = 0; i < 20000; ++i) length += (size_t)sprintf(text + length, "sin(%d*x)+", i + 2);
  strcpy(text + length, "1");
  kg_expression *e;
  assert_int_equal(expression_parse(NULL, text, NULL, 0, &e), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL),
                      "the expression needs more than 10000 terms and operations; write it more "
                      "simply, or pass a function through the C API");
  free(text);
}

static const char *const samples[] = {
    "(8*pi^2+1)*sin(2*pi*x)*sin(2*pi*y)",
    "-x^2",
    "(-2)^x",
    "(-x)^y",
    "x^-2",
    "x^-y^-2",
    "2^x^y",
    "(2^x)^y",
    "x-(y-1)",
    "x-y-1",
    "x/(y/3)",
    "x/y/3",
    "x*(y/x)",
    "-(x*y)",
    "-(x+y)",
    "-x-y",
    "x*-y",
    "1-x",
    "x-1",
    "-3-x",
    "x+-3",
    "1/0",
    "1/0*x",
    "log(-1)+x",
    "1e308*10",
    "1e-320*x",
    "0.1*x+1/3*y",
    "x<y",
    "(x<y)<1",
    "(x<y ? 1 : 2)^2",
    "x<y ? x<1 ? 1 : x : y ? x : y",
    "(x ? y : 1) ? 2 : 3*x",
    "min(x<y, x ? y : 1)",
    "atan2(y, x)+hypot(x-1, y)*max(x, -y)",
    "abs(-x)+cos(-x)+sin(-x)",
    "sqrt(x)*sqrt(x)",
    "x*x*x",
    "exp(-10*((x-.5)^2+(y-.5)^2))",
    "k*x+sigma*y",
    "x == 1 ? -0 : 0*x-0",
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

static void printing_and_parsing_are_inverse(void **state)
{
  (void)state;
  for (int i = 0; i < N_SAMPLES; ++i) {
    char once[2000], twice[2000];
    kg_expression *e = parsed(samples[i]);
    printed(e, once, sizeof once);
    kg_expression *again = parsed(once);
    printed(again, twice, sizeof twice);
    assert_string_equal(once, twice);
    assert_int_equal(e->n_nodes, again->n_nodes);
    for (int32_t j = 0; j < e->n_nodes; ++j) {
      assert_int_equal(e->nodes[j].op, again->nodes[j].op);
      assert_memory_equal(&e->nodes[j].value, &again->nodes[j].value, sizeof(double));
      assert_memory_equal(e->nodes[j].child, again->nodes[j].child, sizeof e->nodes[j].child);
    }
    kg_expression_free(e);
    kg_expression_free(again);
  }
}

static void printing_cuts_like_snprintf(void **state)
{
  (void)state;
  kg_expression *e = parsed("sin(x)+1");
  char text[] = "##########";
  assert_int_equal(expression_print(e, text, 5), 8);
  assert_string_equal(text, "sin(");
  assert_int_equal(text[5], '#');
  assert_int_equal(expression_print(e, NULL, 0), 8);
  assert_int_equal(expression_print(e, text, 9), 8);
  assert_string_equal(text, "sin(x)+1");
  kg_expression_free(e);
}

static void constants_fold_and_equal_terms_are_shared(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"1+2*3", "7"},       {"x+0", "x"},           {"1*x", "x"},
      {"0*x", "0"},         {"x/1", "x"},           {"x^1", "x"},
      {"x^0", "1"},         {"x-x", "0"},           {"x+x", "2*x"},
      {"2*x+3*x", "5*x"},   {"x*x", "x^2"},         {"x*x*x*x", "x^4"},
      {"--x", "x"},         {"x--y", "x+y"},        {"x+-y", "x-y"},
      {"2*(3*x)", "6*x"},   {"x*2*y*3", "6*(x*y)"}, {"-(2*x)", "-2*x"},
      {"(2*x)/4", "0.5*x"}, {"x^.5", "sqrt(x)"},    {"x^-1", "1/x"},
      {"(x^2)^3", "x^6"},   {"sin(-x)", "-sin(x)"}, {"cos(-x)", "cos(x)"},
      {"1 ? x : y", "x"},   {"x ? y : y", "y"},     {"sin(x*y)-sin(y*x)", "0"},
      {"1/0", "1/0"},       {"0/0", "0/0"},         {"(-x)^2", "x^2"},
      {"(-x)^3", "-x^3"},   {"-(x-y)", "y-x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[100];
    kg_expression *e = parsed(cases[i][0]);
    printed(e, text, sizeof text);
    assert_string_equal(text, cases[i][1]);
    kg_expression_free(e);
  }
}

static void the_locale_has_no_say(void **state)
{
  (void)state;
  if (comma_locale() == NULL) skip();  // neither installed nor to be made
  char text[40], printf_text[40];
  snprintf(printf_text, sizeof printf_text, "%g", 0.25);
  const bool read = value_of("1.5", 0, 0) == 1.5;
  kg_number_print(text, 0.25);
  setlocale(LC_NUMERIC, "C");
  assert_string_equal(printf_text, "0,25");
  assert_true(read);
  assert_string_equal(text, "0.25");
}

static void numbers_print_as_short_as_they_read_back(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.1, "0.1"},      {1.0 / 3, "0.3333333333333333"},
               {1e300, "1e+300"}, {5e-324, "4.94065645841247e-324"},
               {-0.0, "-0"},      {123456789, "123456789"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[32];
    kg_number_print(text, cases[i].value);
    assert_string_equal(text, cases[i].text);
    assert_true(strtod(text, NULL) == cases[i].value);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_bind_as_documented),
      cmocka_unit_test(numbers_are_read_to_the_last_bit),
      cmocka_unit_test(every_error_names_its_column),
      cmocka_unit_test(columns_count_characters_not_bytes),
      cmocka_unit_test(deep_nesting_is_refused_not_a_crash),
      cmocka_unit_test(long_chains_need_no_stack),
      cmocka_unit_test(too_many_terms_are_refused),
      cmocka_unit_test(printing_and_parsing_are_inverse),
      cmocka_unit_test(printing_cuts_like_snprintf),
      cmocka_unit_test(constants_fold_and_equal_terms_are_shared),
      cmocka_unit_test(the_locale_has_no_say),
      cmocka_unit_test(numbers_print_as_short_as_they_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

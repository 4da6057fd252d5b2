// Numbers of text are read exactly as strtod() reads them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/gmsh_scan.h"
#include "support.h"

/// Read one number from bytes that are followed by digits that do not belong to it.
static kedge_status read_double(kedge_context *ctx, const char *word, double *out)
{
  char text[256];
  snprintf(text, sizeof text, "%s99999", word);
  kg_scan s;
  assert_ok(ctx, kg_scan_open(ctx, "numbers", text, strlen(word), &s));
  const kedge_status status = kg_text_double(&s, out);
  if (status == KEDGE_OK) assert_ptr_equal(s.at, s.end);
  kg_scan_close(&s);
  return status;
}

static void assert_read_as_strtod(kedge_context *ctx, const char *word)
{
  double value, expected = strtod(word, NULL);
  assert_ok(ctx, read_double(ctx, word, &value));
  if (value != expected || signbit(value) != signbit(expected))
    fail_msg("%s was read as %a instead of %a", word, value, expected);
}

static void awkward_numbers_are_read_exactly(void **state)
{
  static const char *const words[] = {
      "0",
      "-0",
      "+1",
      "1.",
      ".5",
      "-.5e1",
      "1e22",
      "1e23",
      "9007199254740993",
      "9007199254740992.5",
      "0.1",
      "123456789012345678901234567890",
      "1e-27",
      "1e-28",
      "1e27",
      "1e28",
      "4.9e-324",
      "1e308",
      "2.2250738585072011e-308",
      "1.7976931348623157e308",
      "0000000000000000000000000000001",
      "0.000000000000000000000000000000000001",
      "1.0000000000000002",
      "18446744073709551615e0",
      "9999999999999999999",
      "0.30000000000000004440892098500626",
      "7.0385307e-26",
      "1e0000000000005",
      "0x1.8p3",
      "4503599627370497.5",
      "1.00000000000000011102230246251565404",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) assert_read_as_strtod(*state, words[i]);
}

static void random_numbers_are_read_exactly(void **state)
{
  uint64_t random = 2463534242u;
  char word[64];
  for (int i = 0; i < 100000; ++i) {
    const double mantissa = (double)next_random(&random, (uint64_t)1 << 47) / 140737488355328.0;
    const double value = ldexp(mantissa - 0.5, (int)next_random(&random, 60) - 30);
    const int digits = 12 + (int)next_random(&random, 9);
    snprintf(word, sizeof word, "%.*g", digits, value);
    assert_read_as_strtod(*state, word);
  }
}

static void halfway_numbers_are_read_exactly(void **state)
{
  // Decimal expansions of midpoints between neighbouring doubles, cut and rounded near the middle.
  uint64_t random = 362436069u;
  char word[64];
  for (int i = 0; i < 20000; ++i) {
    const uint64_t odd = ((uint64_t)1 << 53 | next_random(&random, (uint64_t)1 << 47)) * 2 + 1;
    snprintf(word, sizeof word, "%llu.%d", (unsigned long long)odd, (int)next_random(&random, 3));
    assert_read_as_strtod(*state, word);
    snprintf(word, sizeof word, "%llue-3", (unsigned long long)odd);
    assert_read_as_strtod(*state, word);
  }
}

static void what_is_no_number_is_refused(void **state)
{
  kedge_context *ctx = *state;
  double value;
  static const char *const words[] = {"abc", "1.2.3", "1e", "--1", "1,5", "."};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    char sentence[128];
    snprintf(sentence, sizeof sentence, "numbers, line 1: \"%s\" is not a number", words[i]);
    assert_refused(ctx, read_double(ctx, words[i], &value), KEDGE_ERR_INPUT, sentence);
  }
  assert_refused(ctx, read_double(ctx, "", &value), KEDGE_ERR_INPUT,
                 "numbers, line 1: the file ends where a number should be; it is truncated");
}

static void integers_beyond_18_digits_are_refused(void **state)
{
  kedge_context *ctx = *state;
  kg_scan s;
  int64_t value;
  const char *text = "-999999999999999999 1000000000000000000";
  assert_ok(ctx, kg_scan_open(ctx, "numbers", text, strlen(text), &s));
  assert_ok(ctx, kg_text_int(&s, &value));
  assert_true(value == -999999999999999999);
  assert_refused(ctx, kg_text_int(&s, &value), KEDGE_ERR_INPUT,
                 "numbers, line 1: \"1000000000000000000\" is not an integer of at most 18 digits");
  kg_scan_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(awkward_numbers_are_read_exactly),
      cmocka_unit_test(random_numbers_are_read_exactly),
      cmocka_unit_test(halfway_numbers_are_read_exactly),
      cmocka_unit_test(what_is_no_number_is_refused),
      cmocka_unit_test(integers_beyond_18_digits_are_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

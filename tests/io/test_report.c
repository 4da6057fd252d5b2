// JSON: the writer's text, and reports that appear whole or not at all.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "core/file.h"
#include "elliptic/stages.h"
#include "io/json.h"
#include "kedge/solution.h"

/// Begin an array on a stream in memory; end_text() gives its text without blanks between members.
static kg_json begin_text(char **text, size_t *size)
{
  kg_json json = {.stream = open_memstream(text, size)};
  assert_non_null(json.stream);
  kg_json_array(&json, NULL);
  return json;
}

static void assert_text(kg_json *json, char **text, const char *expected)
{
  kg_json_close(json);
  assert_int_equal(fclose(json->stream), 0);
  assert_string_equal(*text, expected);
  free(*text);
}

static void strings_are_escaped(void **state)
{
  (void)state;
  char *text;
  size_t size;
  kg_json json = begin_text(&text, &size);
  kg_json_string(&json, NULL, "a\"b\\c/\n\t\r\b\f\x01\x7f");
  kg_json_string(&json, NULL, "\xC2\x85\xE2\x80\xAE");  // steer terminals
  kg_json_string(&json, NULL, "");
  kg_json_string(&json, NULL, NULL);
  assert_text(
      &json, &text,
      "[\n  \"a\\\"b\\\\c/\\n\\t\\r\\b\\f\\u0001\\u007f\",\n  \"\\u0085\\u202e\",\n  \"\",\n"
      "  null\n]\n");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
  (void)state;
  char *text;
  size_t size;
  kg_json json = begin_text(&text, &size);
  kg_json_string(&json, NULL,
                 "\xC3\xA9 \xE2\x82\xAC \xF0\x9D\x9C\x85");  // valid: e acute, euro, kappa
  kg_json_string(&json, NULL, "a\xFFz");
  kg_json_string(&json, NULL, "\xC0\xAF");          // overlong
  kg_json_string(&json, NULL, "\xED\xA0\x80");      // surrogate
  kg_json_string(&json, NULL, "\xF4\x90\x80\x80");  // beyond U+10FFFF
  kg_json_string(&json, NULL, "\xE2\x82");          // cut
  assert_text(&json, &text,
              "[\n  \"\xC3\xA9 \xE2\x82\xAC \xF0\x9D\x9C\x85\",\n  \"a\\ufffdz\",\n"
              "  \"\\ufffd\\ufffd\",\n  \"\\ufffd\\ufffd\\ufffd\",\n"
              "  \"\\ufffd\\ufffd\\ufffd\\ufffd\",\n  \"\\ufffd\\ufffd\"\n]\n");
}

static void numbers_are_short_and_exact(void **state)
{
  (void)state;
  const double values[] = {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 123456789};
  char *text;
  size_t size;
  kg_json json = begin_text(&text, &size);
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    kg_json_number(&json, NULL, values[i]);
  kg_json_close(&json);
  assert_int_equal(fclose(json.stream), 0);
  assert_non_null(strstr(text, " 0.1,"));
  const char *at = text + 1;
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    char *end;
    assert_true(strtod(at, &end) == values[i]);
    at = end + 1;
  }
  free(text);
}

static void numbers_that_json_has_not_are_null(void **state)
{
  (void)state;
  char *text;
  size_t size;
  kg_json json = begin_text(&text, &size);
  kg_json_number(&json, NULL, NAN);
  kg_json_number(&json, NULL, INFINITY);
  kg_json_number(&json, NULL, -INFINITY);
  assert_text(&json, &text, "[\n  null,\n  null,\n  null\n]\n");
}

static void empty_and_nested_values_are_well_formed(void **state)
{
  (void)state;
  char *text;
  size_t size;
  kg_json json = begin_text(&text, &size);
  kg_json_object(&json, NULL);
  kg_json_close(&json);
  kg_json_object(&json, NULL);
  kg_json_integer(&json, "n", INT64_MIN);
  kg_json_bool(&json, "yes", true);
  kg_json_close(&json);
  assert_text(&json, &text,
              "[\n  {},\n  {\n    \"n\": -9223372036854775808,\n    \"yes\": true\n  }\n]\n");
}

static void stages_have_the_names_of_the_report(void **state)
{
  (void)state;
  assert_string_equal(kg_stage_name(KG_STAGE_MESH), "mesh");
  assert_string_equal(kg_stage_name(KG_STAGE_LOCAL_MATRICES), "local_matrices");
  assert_string_equal(kg_stage_name(KG_STAGE_OUTPUT), "output");
}

static void a_choice_that_is_none_is_called_unknown(void **state)
{
  (void)state;
  assert_string_equal(kedge_operator_name(KEDGE_OPERATOR_ELL), "ell");
  assert_string_equal(kedge_operator_name(KEDGE_OPERATOR_COUNT), "unknown");
  assert_string_equal(kedge_preconditioner_name(KEDGE_PRECONDITIONER_COUNT), "unknown");
  assert_string_equal(kedge_smoother_name(KEDGE_SMOOTHER_COUNT), "unknown");
  assert_string_equal(kedge_precision_name(KEDGE_PRECISION_COUNT), "unknown");
  assert_string_equal(kedge_precision_name((kedge_precision)-1), "unknown");
}

static const kedge_report report = {.size = sizeof(kedge_report),
                                    .backend = "host",
                                    .device = "a \"CPU\"",
                                    .operator_name = "ell",
                                    .preconditioner = "jacobi"};

static void a_report_that_cannot_be_written_is_a_sentence(void **state)
{
  (void)state;
  assert_int_equal(kedge_report_write(NULL, &report, "/nonexistent/r.json"), KEDGE_ERR_IO);
  assert_string_equal(
      kedge_context_error(NULL),
      "cannot write the report /nonexistent/r.json: /nonexistent: No such file or directory");
  assert_int_equal(kedge_report_write(NULL, &report, "/dev/full"), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL),
                      "cannot write the report /dev/full: No space left on device");
  assert_int_equal(kedge_report_write(NULL, &report, "/tmp"), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL), "cannot write the report /tmp: it is a folder");
  assert_int_equal(kedge_report_write(NULL, NULL, "r.json"), KEDGE_ERR_ARG);
  assert_int_equal(kedge_plan_write(NULL, &(kedge_plan){0}, "r.json"), KEDGE_ERR_ARG);
}

static void devices_are_written_and_not_replaced(void **state)
{
  (void)state;
  assert_int_equal(kedge_report_write(NULL, &report, "/dev/null"), KEDGE_OK);
  struct stat info;
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void a_report_replaces_the_older_one(void **state)
{
  (void)state;
  char folder[] = "/tmp/kedge_report_XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/r.json", folder);
  char *data;
  size_t bytes;
  for (int round = 0; round < 2; ++round)
    assert_int_equal(kedge_report_write(NULL, &report, path), KEDGE_OK);
  assert_int_equal(kg_file_read(NULL, path, &data, &bytes), KEDGE_OK);
  assert_non_null(strstr(data, "\"device\": \"a \\\"CPU\\\"\""));
  assert_non_null(strstr(data, "\"errors\": null"));
  free(data);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);  // nothing else was left
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strings_are_escaped),
      cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
      cmocka_unit_test(numbers_are_short_and_exact),
      cmocka_unit_test(numbers_that_json_has_not_are_null),
      cmocka_unit_test(empty_and_nested_values_are_well_formed),
      cmocka_unit_test(stages_have_the_names_of_the_report),
      cmocka_unit_test(a_choice_that_is_none_is_called_unknown),
      cmocka_unit_test(a_report_that_cannot_be_written_is_a_sentence),
      cmocka_unit_test(devices_are_written_and_not_replaced),
      cmocka_unit_test(a_report_replaces_the_older_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Lists of outputs and their times, as ParaView reads them.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "core/file.h"
#include "kedge/march.h"

static const char *const names[] = {"plate.0001.vtkhdf", "a \"b\".0002.vtkhdf"};
static const double times[] = {0.1 + 0.2, 1e-300};

static int flushed;

/// In place of that of the system: it counts.
int fsync(int descriptor)
{
  (void)descriptor;
  ++flushed;
  return 0;
}

static void assert_content(const char *path, const char *expected)
{
  char *text;
  size_t bytes;
  assert_int_equal(kg_file_read(NULL, path, &text, &bytes), KEDGE_OK);
  assert_string_equal(text, expected);
  free(text);
}

static void a_list_has_names_and_exact_times_and_replaces_the_one_before(void **state)
{
  (void)state;
  char folder[] = "/tmp/kedge_series_XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plate.vtkhdf.series", folder);
  assert_int_equal(kedge_series_write(NULL, path, 2, names, times), KEDGE_OK);
  assert_content(path,
                 "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n    {\n"
                 "      \"name\": \"plate.0001.vtkhdf\",\n      \"time\": 0.30000000000000004\n"
                 "    },\n    {\n      \"name\": \"a \\\"b\\\".0002.vtkhdf\",\n"
                 "      \"time\": 1e-300\n    }\n  ]\n}\n");
  assert_int_equal(kedge_series_write(NULL, path, 0, NULL, NULL), KEDGE_OK);
  assert_content(path, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": []\n}\n");
  assert_int_equal(flushed, 0);  // as it is written for each output
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);  // nothing else was left
}

static void a_list_that_cannot_be_written_is_a_sentence(void **state)
{
  (void)state;
  assert_int_equal(kedge_series_write(NULL, "/dev/full", 2, names, times), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL),
                      "cannot write the list of outputs /dev/full: No space left on device");
  assert_int_equal(kedge_series_write(NULL, NULL, 2, names, times), KEDGE_ERR_ARG);
  assert_int_equal(kedge_series_write(NULL, "x", -1, names, times), KEDGE_ERR_ARG);
  assert_int_equal(kedge_series_write(NULL, "x", 1, NULL, times), KEDGE_ERR_ARG);
  assert_int_equal(kedge_series_write(NULL, "x", 1, names, NULL), KEDGE_ERR_ARG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_list_has_names_and_exact_times_and_replaces_the_one_before),
      cmocka_unit_test(a_list_that_cannot_be_written_is_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

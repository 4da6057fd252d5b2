// What the command makes of steps, apart from solves: names of outputs, tables that grow, and the
// line on the terminal.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/march_line.h"
#include "cli/series.h"
#include "cli/table.h"
#include "cmocka_all.h"

static char folder[] = "/tmp/kedge_march_XXXXXX", path[64];

static void assert_content(const char *expected)
{
  char text[400] = "";
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_string_equal(text, expected);
}

static void put_text(const char *text)
{
  FILE *const file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void assert_name(const char *of, int64_t i, const char *expected)
{
  char *const name = kg_series_name(of, i);
  assert_string_equal(name, expected);
  free(name);
}

static void numbers_stand_before_the_ending(void **state)
{
  (void)state;
  assert_name("plate.vtkhdf", 1, "plate.0001.vtkhdf");
  assert_name("plate.vtkhdf", 10000, "plate.10000.vtkhdf");
  assert_name("a.b/plate", 12, "a.b/plate.0012");
  assert_name("../a.1.hdf", 9999, "../a.1.9999.hdf");
}

static void a_name_without_room_for_numbers_is_told(void **state)
{
  (void)state;
  char name[PATH_MAX + 20];
  memset(name, 'n', sizeof name);
  strcpy(name + NAME_MAX - 20 - 7, ".vtkhdf");
  assert_true(kg_series_has_room(name));
  strcpy(name + NAME_MAX - 20 - 6, ".vtkhdf");
  assert_false(kg_series_has_room(name));
  memset(name, '/', sizeof name);
  strcpy(name + PATH_MAX - 20, ".hdf");
  assert_false(kg_series_has_room(name));
}

static void a_table_quotes_names_and_leaves_out_what_is_not_finite(void **state)
{
  static const char *const names[] = {"t", "flux a,b", "flux \"c\"", "two\nlines"};
  (void)state;
  kg_table table = {.path = path};
  assert_int_equal(kg_table_open(&table, 4, names), 0);
  assert_int_equal(kg_table_add(&table, (double[]){0.1, -1e300, NAN, 0.1 + 0.2}), 0);
  assert_content(
      "t,\"flux a,b\",\"flux \"\"c\"\"\",\"two\nlines\"\n0.1,-1e+300,,0.30000000000000004\n");
  assert_int_equal(kg_table_add(&table, (double[]){INFINITY, 2, 3, 4}), 0);  // is there at once
  assert_content(
      "t,\"flux a,b\",\"flux "
      "\"\"c\"\"\",\"two\nlines\"\n0.1,-1e+300,,0.30000000000000004\n,2,3,4\n");
  assert_int_equal(table.rows, 2);
  kg_table_close(&table);
  assert_int_equal(kg_table_open(&table, 1, names), 0);  // begins anew
  kg_table_close(&table);
  assert_content("t\n");
}

static void a_disk_that_fills_leaves_whole_rows(void **state)
{
  (void)state;
  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  kg_table table = {.path = path};
  assert_int_equal(kg_table_open(&table, 2, (const char *const[]){"t", "step"}), 0);
  limit = before;
  limit.rlim_cur = 16;  // in the middle of the third row
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const int first = kg_table_add(&table, (double[]){0.5, 1});
  const int second = kg_table_add(&table, (double[]){0.625, 2});
  const int third = kg_table_add(&table, (double[]){0.75, 3});
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  kg_table_close(&table);
  assert_int_equal(first, 0);
  assert_int_equal(second, EFBIG);
  assert_int_equal(third, EFBIG);
  assert_content("t,step\n0.5,1\n");
  assert_int_equal(table.rows, 1);
}

static void a_table_goes_on_behind_a_step(void **state)
{
  static const char *const names[] = {"t", "step", "a"};
  (void)state;
  kg_table table = {.path = path};
  put_text("t,step,a\n0.1,1,5\n0.2,2,6\n0.3,3,7\n0.4,4");
  assert_int_equal(kg_table_resume(&table, 3, names, 2), 0);
  assert_int_equal(table.rows, 2);
  assert_int_equal(kg_table_add(&table, (double[]){0.5, 3, 8}), 0);
  kg_table_close(&table);
  assert_content("t,step,a\n0.1,1,5\n0.2,2,6\n0.5,3,8\n");
  assert_int_equal(kg_table_resume(&table, 3, names, 9), 0);
  kg_table_close(&table);
  assert_int_equal(kg_table_resume(&table, 2, names, 9), KG_TABLE_OTHER);
  assert_false(table.is_open);
  assert_content("t,step,a\n0.1,1,5\n0.2,2,6\n0.5,3,8\n");
  put_text("t,st");  // was killed there
  assert_int_equal(kg_table_resume(&table, 3, names, 9), KG_TABLE_OTHER);
  unlink(path);
  assert_int_equal(kg_table_resume(&table, 3, names, 9), 0);  // begins
  kg_table_close(&table);
  assert_content("t,step,a\n");
}

static void a_table_goes_on_with_steps_as_far_apart(void **state)
{
  static const char *const names[] = {"t", "step"};
  static const char rows[] = "t,step\n0.2,4\n0.3,6\n0.4,8\n0.7,14\n";
  static const struct {
    int64_t every, steps;
    int result;
  } cases[] = {{2, 9, 0},
               {2, 7, 0},
               {2, 15, 0},
               {2, 5, 0},
               {1, 8, KG_TABLE_OTHER},
               {3, 8, KG_TABLE_OTHER},
               {4, 9, KG_TABLE_OTHER},
               {0, 99, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kg_table table = {.path = path, .every = cases[i].every};
    put_text(rows);
    assert_int_equal(kg_table_resume(&table, 2, names, cases[i].steps), cases[i].result);
    kg_table_close(&table);
    if (cases[i].result) assert_content(rows);
  }
}

static void a_table_that_cannot_be_begun_is_told(void **state)
{
  (void)state;
  kg_table table = {.path = "/nonexistent/a.csv"};
  assert_int_equal(kg_table_open(&table, 1, (const char *const[]){"t"}), ENOENT);
  kg_table_close(&table);
  table.path = "/dev/full";
  assert_int_equal(kg_table_open(&table, 1, (const char *const[]){"t"}), ENOSPC);
  kg_table_close(&table);
}

static void assert_line(const kg_march_line *line, int64_t iteration, const char *expected)
{
  char text[256];
  kg_march_line_format(line, iteration, 12.0, text, sizeof text);
  assert_string_equal(text, expected);
}

static void the_line_tells_time_step_iterations_and_what_is_left(void **state)
{
  (void)state;
  assert_line(&(kg_march_line){.end = 2.0}, 0, "t = 0 of 2, step 1");
  assert_line(&(kg_march_line){.end = 2.0}, 7, "t = 0 of 2, step 1: iteration 7");
  assert_line(&(kg_march_line){.t = 0.5, .end = 2.0, .steps = 4, .iterations = 90}, 0,
              "t = 0.5 of 2, step 5, 36 s left, 22 iterations a step");
  assert_line(&(kg_march_line){.from = 1.0, .t = 1.5, .end = 2.0, .steps = 4, .iterations = 4}, 3,
              "t = 1.5 of 2, step 5: iteration 3, 12 s left, 1 iteration a step");
  assert_line(&(kg_march_line){.t = 1e-9, .end = 1e3, .steps = 1, .iterations = 26}, 0,
              "t = 1e-09 of 1000, step 2, 9999 h left, 26 iterations a step");
}

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/a.csv", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  return unlink(path) != 0 || rmdir(folder) != 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_stand_before_the_ending),
      cmocka_unit_test(a_name_without_room_for_numbers_is_told),
      cmocka_unit_test(a_table_quotes_names_and_leaves_out_what_is_not_finite),
      cmocka_unit_test(a_disk_that_fills_leaves_whole_rows),
      cmocka_unit_test(a_table_goes_on_behind_a_step),
      cmocka_unit_test(a_table_goes_on_with_steps_as_far_apart),
      cmocka_unit_test(a_table_that_cannot_be_begun_is_told),
      cmocka_unit_test(the_line_tells_time_step_iterations_and_what_is_left),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

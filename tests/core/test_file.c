// Files read whole, and files that appear only when they are complete.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "core/file.h"

static char folder[] = "/tmp/kedge_file_XXXXXX";
static char path[128];

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/result.dat", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(folder);  // fails, and the group with it, when a test left a file behind
}

static void write_text(const char *name, const char *text)
{
  FILE *stream = fopen(name, "w");
  assert_non_null(stream);
  fputs(text, stream);
  assert_int_equal(fclose(stream), 0);
}

static void assert_file_holds(const char *name, const char *text)
{
  char *data = NULL;
  size_t bytes = 0;
  assert_int_equal(kg_file_read(NULL, name, &data, &bytes), KEDGE_OK);
  assert_int_equal(bytes, strlen(text));
  assert_string_equal(data, text);
  free(data);
}

static void the_temporary_name_is_hidden_in_the_same_folder(void **state)
{
  (void)state;
  char *name = NULL;
  assert_int_equal(kg_temporary_name(NULL, path, &name), KEDGE_OK);
  assert_int_equal(strncmp(name, folder, strlen(folder)), 0);
  assert_int_equal(strncmp(name + strlen(folder), "/.result.dat.", 13), 0);
  free(name);
  assert_int_equal(kg_temporary_name(NULL, "plain", &name), KEDGE_OK);
  assert_int_equal(strncmp(name, ".plain.", 7), 0);
  free(name);
}

static void a_commit_replaces_the_file_at_once(void **state)
{
  (void)state;
  char *name = NULL;
  write_text(path, "old");
  assert_int_equal(kg_temporary_name(NULL, path, &name), KEDGE_OK);
  write_text(name, "new and longer");
  assert_file_holds(path, "old");
  assert_int_equal(kg_file_commit(NULL, name, path), KEDGE_OK);
  assert_file_holds(path, "new and longer");
  assert_int_not_equal(access(name, F_OK), 0);
  free(name);
}

static void a_commit_that_fails_leaves_nothing_behind(void **state)
{
  (void)state;
  char name[160], target[160];
  snprintf(name, sizeof name, "%s/.part", folder);
  snprintf(target, sizeof target, "%s/nowhere/result.dat", folder);
  write_text(name, "x");
  assert_int_equal(kg_file_commit(NULL, name, target), KEDGE_ERR_IO);
  assert_non_null(strstr(kedge_context_error(NULL), "cannot write"));
  assert_non_null(strstr(kedge_context_error(NULL), target));
  assert_int_not_equal(access(name, F_OK), 0);
  assert_int_equal(kg_file_commit(NULL, name, path), KEDGE_ERR_IO);  // no such temporary file
}

static void a_missing_file_and_a_folder_are_refused(void **state)
{
  (void)state;
  char *data = path;
  size_t bytes;
  assert_int_equal(kg_file_read(NULL, "/nonexistent/plate.msh", &data, &bytes), KEDGE_ERR_IO);
  assert_null(data);
  assert_string_equal(kedge_context_error(NULL),
                      "cannot open /nonexistent/plate.msh: No such file or directory");
  assert_int_equal(kg_file_read(NULL, folder, &data, &bytes), KEDGE_ERR_IO);
  assert_non_null(strstr(kedge_context_error(NULL), "it is a folder"));
}

static void empty_files_and_pipes_are_read(void **state)
{
  (void)state;
  write_text(path, "");
  assert_file_holds(path, "");
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  // Longer than the first guess of the reader, shorter than what a pipe holds.
  char text[10000];
  memset(text, 'p', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
  close(ends[1]);
  char name[64];
  snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
  assert_file_holds(name, text);
  close(ends[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_temporary_name_is_hidden_in_the_same_folder),
      cmocka_unit_test(a_commit_replaces_the_file_at_once),
      cmocka_unit_test(a_commit_that_fails_leaves_nothing_behind),
      cmocka_unit_test(a_missing_file_and_a_folder_are_refused),
      cmocka_unit_test(empty_files_and_pipes_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

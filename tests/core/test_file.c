// Files read whole.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
      cmocka_unit_test(a_missing_file_and_a_folder_are_refused),
      cmocka_unit_test(empty_files_and_pipes_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

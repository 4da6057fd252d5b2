// Files read whole.
#include <sys/stat.h>

#include "scratch.h"

static int remove_file_and_folder(void **state)
{
  unlink(path);
  return remove_folder(state);
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

static void what_has_no_end_is_refused(void **state)
{
  (void)state;
  char *data = path, sentence[sizeof path + 64];
  size_t bytes;
  assert_int_equal(kg_file_read(NULL, "/dev/zero", &data, &bytes), KEDGE_ERR_IO);
  assert_null(data);
  assert_string_equal(kedge_context_error(NULL),
                      "cannot read /dev/zero: it is a device, not a file");
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(kg_file_read(NULL, path, &data, &bytes), KEDGE_ERR_IO);
  assert_null(data);
  snprintf(sentence, sizeof sentence, "cannot read %s: it is a pipe that nothing was written to",
           path);
  assert_string_equal(kedge_context_error(NULL), sentence);
  unlink(path);
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
      cmocka_unit_test(what_has_no_end_is_refused),
      cmocka_unit_test(empty_files_and_pipes_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_file_and_folder);
}

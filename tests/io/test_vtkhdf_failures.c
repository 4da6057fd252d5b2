// Places that cannot be written, and writers that fail: the whole file is there, or nothing is.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vtkhdf_case.h"

static void a_link_is_followed(void **state)
{
  (void)state;
  char link_name[160];
  snprintf(link_name, sizeof link_name, "%s/link.vtkhdf", folder);
  write_file(3);
  assert_int_equal(symlink(path, link_name), 0);
  char plain[sizeof path];
  memcpy(plain, path, sizeof plain);
  snprintf(path, sizeof path, "%s/link.vtkhdf", folder);
  write_file(5);
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  unlink(path);
  memcpy(path, plain, sizeof path);
  assert_file(5);
}

static void assert_refused(const char *where, const char *sentence)
{
  kg_vtkhdf *file = (kg_vtkhdf *)&where;
  assert_int_equal(kg_vtkhdf_create(ctx, where, 2, &(kg_vtkhdf_cells){.n = 4}, &file),
                   KEDGE_ERR_IO);
  assert_null(file);
  assert_string_equal(kedge_context_error(ctx), sentence);
}

static void places_that_cannot_be_written_are_refused_at_once(void **state)
{
  (void)state;
  assert_refused(
      "/nonexistent/a.vtkhdf",
      "cannot write the output /nonexistent/a.vtkhdf: /nonexistent: No such file or directory");
  assert_refused("/dev/null", "cannot write the output /dev/null: it must be a regular file");
  assert_refused("/tmp", "cannot write the output /tmp: it is a folder");
}

static void a_read_only_folder_is_refused(void **state)
{
  (void)state;
  if (geteuid() == 0) skip();  // root may write everywhere
  assert_int_equal(chmod(folder, 0500), 0);
  char sentence[256];
  snprintf(sentence, sizeof sentence, "cannot write the output %s: %s: Permission denied", path,
           folder);
  assert_refused(path, sentence);
  assert_int_equal(chmod(folder, 0700), 0);
}

static void an_incomplete_file_is_not_published(void **state)
{
  (void)state;
  unlink(path);
  kg_vtkhdf *file = begin_file(9);
  write_chunk(file, 0, 8);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "was written for 8 of 9 cells"));
  assert_int_equal(entries_of_folder(NULL), 0);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
  (void)state;
  unlink(path);
  kg_vtkhdf *file = begin_file(8);
  write_chunk(file, 0, 8);
  assert_int_equal(entries_of_folder(NULL), 1);
  kg_vtkhdf_abandon(file);
  kg_vtkhdf_abandon(NULL);
  assert_int_equal(entries_of_folder(NULL), 0);
}

/// A limit of the file size stands in for a full disk. Its own process, which also shows that HDF5
/// leaves it in peace at exit.
static void a_full_disk_is_a_sentence_and_leaves_nothing(void **state)
{
  (void)state;
  unlink(path);
  for (rlim_t limit = 0; limit < 400000; limit = 2 * limit + 1000) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
      kg_vtkhdf *file = NULL;
      static double points[1000 * NODES * 3];
      kedge_status status =
          kg_vtkhdf_create(ctx, path, ORDER, &(kg_vtkhdf_cells){.n = 1000}, &file);
      if (status == KEDGE_OK) status = kg_vtkhdf_write_points(file, 0, 1000, points);
      kg_vtkhdf_abandon(file);
      const char *sentence = kedge_context_error(ctx);
      const bool right = status == KEDGE_ERR_IO && strstr(sentence, "cannot write the output") &&
                         strstr(sentence, "no room for its") && strstr(sentence, "File too large");
      exit(right ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(entries_of_folder(NULL), 0);
  }
}

/// A writer that is killed in the middle; returns when it is dead.
static void kill_a_writer_in_the_middle(void)
{
  int ready[2] = {-1, -1};
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    kg_vtkhdf *file = begin_file(16);
    write_chunk(file, 0, 8);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  close(ready[1]);
}

static void a_killed_writer_leaves_no_file_that_looks_complete(void **state)
{
  (void)state;
  unlink(path);
  kill_a_writer_in_the_middle();
  assert_int_not_equal(access(path, F_OK), 0);
  char name[256] = "", left[400];
  assert_int_equal(entries_of_folder(name), 1);
  assert_int_equal(name[0], '.');
  const char *extension = strrchr(name, '.');
  assert_string_not_equal(extension, ".vtkhdf");
  assert_string_not_equal(extension, ".hdf");
  snprintf(left, sizeof left, "%s/%s", folder, name);
  assert_int_equal(unlink(left), 0);
}

static void a_killed_writer_leaves_the_older_file_alone(void **state)
{
  (void)state;
  write_file(5);
  kill_a_writer_in_the_middle();
  assert_file(5);
  char left[400];
  DIR *stream = opendir(folder);
  assert_non_null(stream);
  for (const struct dirent *entry; (entry = readdir(stream));)
    if (strstr(entry->d_name, ".partial")) {
      snprintf(left, sizeof left, "%s/%s", folder, entry->d_name);
      unlink(left);
    }
  closedir(stream);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_link_is_followed),
      cmocka_unit_test(places_that_cannot_be_written_are_refused_at_once),
      cmocka_unit_test(a_read_only_folder_is_refused),
      cmocka_unit_test(an_incomplete_file_is_not_published),
      cmocka_unit_test(an_abandoned_file_leaves_nothing),
      cmocka_unit_test(a_full_disk_is_a_sentence_and_leaves_nothing),
      cmocka_unit_test(a_killed_writer_leaves_no_file_that_looks_complete),
      cmocka_unit_test(a_killed_writer_leaves_the_older_file_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

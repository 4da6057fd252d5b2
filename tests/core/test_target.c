// Files that appear only when they are complete, and leave nothing behind when they are not.
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "core/target.h"
#include "scratch.h"

static bool exists(const char *name)
{
  struct stat info;
  return lstat(name, &info) == 0;
}

static kg_target open_target(const char *name)
{
  kg_target target;
  assert_int_equal(kg_target_open(NULL, name, "report", false, &target), KEDGE_OK);
  return target;
}

static void the_temporary_name_is_hidden_in_the_same_folder(void **state)
{
  (void)state;
  kg_target target = open_target(path);
  const char *name = kg_target_name(&target);
  assert_int_equal(strncmp(name, folder, strlen(folder)), 0);
  assert_int_equal(strncmp(name + strlen(folder), "/.result.dat.", 13), 0);
  kg_target_close(&target);
  target = open_target("plain");
  assert_int_equal(strncmp(kg_target_name(&target), ".plain.", 7), 0);
  kg_target_close(&target);
}

static void two_writers_of_one_file_do_not_meet(void **state)
{
  (void)state;
  kg_target a = open_target(path), b = open_target(path);
  assert_string_not_equal(kg_target_name(&a), kg_target_name(&b));
  kg_target_close(&a);
  kg_target_close(&b);
}

static void the_longest_name_leaves_room_for_the_temporary_one(void **state)
{
  (void)state;
  char name[NAME_MAX + 1], longest[NAME_MAX + sizeof folder + 1];
  memset(name, 'n', NAME_MAX);
  name[NAME_MAX] = '\0';
  snprintf(longest, sizeof longest, "%s/%s", folder, name);
  kg_target target = open_target(longest);
  write_text(kg_target_name(&target), "whole");
  assert_int_equal(kg_target_commit(&target), KEDGE_OK);
  kg_target_close(&target);
  assert_file_holds(longest, "whole");
  assert_int_equal(unlink(longest), 0);
}

static void a_commit_replaces_the_file_at_once(void **state)
{
  (void)state;
  write_text(path, "old");
  kg_target target = open_target(path);
  write_text(kg_target_name(&target), "new and longer");
  assert_file_holds(path, "old");
  assert_int_equal(kg_target_commit(&target), KEDGE_OK);
  assert_file_holds(path, "new and longer");
  assert_false(exists(kg_target_name(&target)));
  kg_target_close(&target);
  assert_int_equal(unlink(path), 0);
}

static void a_commit_that_fails_leaves_nothing_behind(void **state)
{
  (void)state;
  char name[160], expected[256];
  kg_target target = open_target(path);
  snprintf(expected, sizeof expected, "cannot write the report %s: No such file or directory",
           path);
  assert_int_equal(kg_target_commit(&target), KEDGE_ERR_IO);  // nothing has been written
  assert_string_equal(kedge_context_error(NULL), expected);

  write_text(kg_target_name(&target), "x");
  assert_int_equal(mkdir(path, 0700), 0);  // in the meantime
  snprintf(expected, sizeof expected, "cannot write the report %s: Is a directory", path);
  assert_int_equal(kg_target_commit(&target), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL), expected);
  snprintf(name, sizeof name, "%s", kg_target_name(&target));
  kg_target_close(&target);
  assert_false(exists(name));
  assert_int_equal(rmdir(path), 0);
}

static void write_through(const char *name, const char *text)
{
  kg_target target = open_target(name);
  write_text(kg_target_name(&target), text);
  assert_int_equal(kg_target_commit(&target), KEDGE_OK);
  kg_target_close(&target);
}

static void links_are_followed_to_a_file_that_need_not_exist(void **state)
{
  (void)state;
  char sub[160], first[160], second[170];
  struct stat info;
  snprintf(sub, sizeof sub, "%s/sub", folder);
  snprintf(first, sizeof first, "%s/first", folder);
  snprintf(second, sizeof second, "%s/second", sub);
  assert_int_equal(mkdir(sub, 0700), 0);
  assert_int_equal(symlink("sub/second", first), 0);
  for (int whole = 0; whole < 2; ++whole) {
    assert_int_equal(symlink(whole ? path : "../result.dat", second), 0);
    write_through(first, "new file");
    assert_file_holds(path, "new file");
    write_through(first, "replaced");
    assert_file_holds(path, "replaced");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(lstat(first, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(second, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(unlink(second), 0);
  }
  assert_int_equal(unlink(first), 0);
  assert_int_equal(rmdir(sub), 0);
}

static void a_link_to_itself_is_refused(void **state)
{
  (void)state;
  char expected[200];
  kg_target target;
  assert_int_equal(symlink("result.dat", path), 0);
  snprintf(expected, sizeof expected, "cannot write the report %s: %s", path, strerror(ELOOP));
  assert_int_equal(kg_target_open(NULL, path, "report", false, &target), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL), expected);
  kg_target_close(&target);
  assert_int_equal(unlink(path), 0);
}

static void what_is_no_regular_file_is_written_itself(void **state)
{
  (void)state;
  kg_target target = open_target("/dev/null");
  assert_null(target.temporary);
  assert_string_equal(kg_target_name(&target), "/dev/null");
  assert_int_equal(kg_target_commit(&target), KEDGE_OK);
  kg_target_close(&target);
  assert_true(exists("/dev/null"));
}

static void a_folder_is_refused(void **state)
{
  (void)state;
  char expected[160];
  kg_target target;
  snprintf(expected, sizeof expected, "cannot write the report %s: it is a folder", folder);
  assert_int_equal(kg_target_open(NULL, folder, "report", false, &target), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL), expected);
  kg_target_close(&target);  // may be called all the same
}

static void an_empty_name_is_refused(void **state)
{
  (void)state;
  kg_target target;
  assert_int_equal(kg_target_open(NULL, "", "report", false, &target), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(NULL), "the name of the report is empty");
  kg_target_close(&target);
}

static void partial_files_are_removed_on_demand(void **state)
{
  (void)state;
  enum { MANY = 40 };  // more than are remembered: the rest goes when they are closed
  kg_target targets[MANY];
  for (int i = 0; i < MANY; ++i) {
    targets[i] = open_target(path);
    write_text(kg_target_name(&targets[i]), "half");
  }
  char names[2][160];
  for (int i = 0; i < 2; ++i) snprintf(names[i], 160, "%s", kg_target_name(&targets[i]));
  assert_int_equal(kg_target_commit(&targets[0]), KEDGE_OK);
  kg_target_close(&targets[0]);
  kedge_partial_files_remove();
  assert_false(exists(names[1]));
  assert_file_holds(path, "half");
  assert_int_equal(kg_target_commit(&targets[1]), KEDGE_ERR_IO);
  for (int i = 1; i < MANY; ++i) {
    char *const taken = targets[i].slot >= 0 ? targets[i].temporary : NULL;
    kg_target_close(&targets[i]);
    free(taken);  // a real handler has no moment to
  }
  kedge_partial_files_remove();  // knows none any more
  assert_int_equal(unlink(path), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_temporary_name_is_hidden_in_the_same_folder),
      cmocka_unit_test(two_writers_of_one_file_do_not_meet),
      cmocka_unit_test(the_longest_name_leaves_room_for_the_temporary_one),
      cmocka_unit_test(a_commit_replaces_the_file_at_once),
      cmocka_unit_test(a_commit_that_fails_leaves_nothing_behind),
      cmocka_unit_test(links_are_followed_to_a_file_that_need_not_exist),
      cmocka_unit_test(a_link_to_itself_is_refused),
      cmocka_unit_test(what_is_no_regular_file_is_written_itself),
      cmocka_unit_test(a_folder_is_refused),
      cmocka_unit_test(an_empty_name_is_refused),
      cmocka_unit_test(partial_files_are_removed_on_demand),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/// @file
/// A folder of a test program's own, and the text of files.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "core/file.h"

static char folder[] = "/tmp/kedge_test_XXXXXX";
static char path[128];  ///< of a file there

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

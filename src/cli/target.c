#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum { TEMPORARY_BYTES = 64 };  // room that the library's temporary name takes beside the name

/// Say that `place`, which writing to `path` depends on, stands in the way.
static void refuse(const char *what, const char *path, const char *place, int error)
{
  fprintf(stderr, "kedge: cannot write the %s %s: %s: %s\n", what, path, place, strerror(error));
}

/// The name of a file that does not exist yet, or of a link to nowhere, which will be replaced
/// itself: its folder without links, and the last part of `path`.
static char *name_new(const char *path, const char *what)
{
  const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
  char *const place =
      slash ? strndup(path, (size_t)(slash > path ? slash - path : 1)) : strdup(".");
  char *const folder = place ? realpath(place, NULL) : NULL;
  const int error = folder ? 0 : errno;
  char *out = NULL;
  if (error)
    refuse(what, path, place ? place : path, error);
  else if (asprintf(&out, "%s/%s", folder, name) < 0)
    out = NULL;
  free(folder);
  free(place);
  return out;
}

/// A file is replaced by a new one in its folder, so the folder has to be writable.
static bool can_replace(const char *real, const char *path, const char *what)
{
  char *const folder = strndup(real, (size_t)(strrchr(real, '/') - real) + 1);
  const int error = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;
  if (error) refuse(what, path, folder ? folder : real, error);
  free(folder);
  return error == 0;
}

/// A pipe, a terminal or a device is written itself.
static char *name_special(const char *path, const char *what, bool regular)
{
  if (regular)
    fprintf(stderr, "kedge: cannot write the %s %s: it must be a regular file\n", what, path);
  else if (access(path, W_OK) != 0)
    refuse(what, path, path, errno);
  else
    return strdup(path);
  return NULL;
}

static char *name_regular(const char *path, const char *what, bool exists)
{
  char *real = exists ? realpath(path, NULL) : name_new(path, what);
  if (exists && !real) refuse(what, path, path, errno);
  if (!real || can_replace(real, path, what)) return real;
  free(real);
  return NULL;
}

char *kg_cli_target(const char *path, const char *what, bool regular)
{
  struct stat info;
  const bool exists = stat(path, &info) == 0;
  const size_t length = strlen(path);
  const int error = length + TEMPORARY_BYTES > PATH_MAX ? ENAMETOOLONG : exists ? 0 : errno;
  if (error && error != ENOENT) {
    refuse(what, path, path, error);
    return NULL;
  }
  if (exists ? S_ISDIR(info.st_mode) : length == 0 || path[length - 1] == '/') {
    fprintf(stderr, "kedge: cannot write the %s %s: it is a folder\n", what, path);
    return NULL;
  }
  if (exists && !S_ISREG(info.st_mode)) return name_special(path, what, regular);
  return name_regular(path, what, exists);
}

bool kg_cli_spares(const char *path, const char *what, const char *const *inputs, int n)
{
  struct stat target, input;
  if (stat(path, &target) != 0) return true;  // a new file
  for (int i = 0; i < n; ++i) {
    if (!inputs[i] || stat(inputs[i], &input) != 0) continue;
    if (input.st_dev != target.st_dev || input.st_ino != target.st_ino) continue;
    fprintf(stderr, "kedge: cannot write the %s %s: it is the input %s; give another name\n", what,
            path, inputs[i]);
    return false;
  }
  return true;
}

bool kg_cli_named(const char *path, const char *what, const char *const *endings, int n)
{
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return true;
  const size_t length = strlen(path);
  for (int i = 0; i < n; ++i) {
    const size_t ending = strlen(endings[i]);
    if (length > ending && strcmp(path + length - ending, endings[i]) == 0) return true;
  }
  fprintf(stderr, "kedge: cannot write the %s %s: its name must end in", what, path);
  for (int i = 0; i < n; ++i) fprintf(stderr, "%s %s", i ? " or" : "", endings[i]);
  fputs(", by which programs know what it holds\n", stderr);
  return false;
}

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/link.h"

enum { TEMPORARY_BYTES = 64 };  // room that the library's temporary name takes beside the name

/// Say why a file cannot be written.
static void refuse(const kg_cli_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(const kg_cli_file *file, const char *format, ...)
{
  va_list args;
  fprintf(stderr, "kedge: %scannot write the %s %s: ", file->place, file->what, file->path);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

/// `place`, which writing depends on, stands in the way.
static void refuse_place(const kg_cli_file *file, const char *place, int error)
{
  refuse(file, "%s: %s", place, strerror(error));
}

/// The name of a file that does not exist yet: its folder without links, and the last part of
/// `path`.
static char *name_in_folder(const kg_cli_file *file, const char *path)
{
  const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
  char *const place =
      slash ? strndup(path, (size_t)(slash > path ? slash - path : 1)) : strdup(".");
  char *const folder = place ? realpath(place, NULL) : NULL;
  const int error = folder ? 0 : errno;
  char *out = NULL;
  if (error)
    refuse_place(file, place ? place : path, error);
  else if (asprintf(&out, "%s/%s", folder, name) < 0)
    out = NULL;
  free(folder);
  free(place);
  return out;
}

/// A file that does not exist yet, under this name or where a link of this name leads.
static char *name_new(const kg_cli_file *file)
{
  char *const path = kg_link_follow(file->path), *real = NULL;
  if (!path)
    refuse_place(file, file->path, errno);
  else if (path[strlen(path) - 1] == '/')
    refuse(file, "it is a folder");
  else
    real = name_in_folder(file, path);
  free(path);
  return real;
}

/// A file is replaced by a new one in its folder, so the folder has to be writable.
static bool can_replace(const char *real, const kg_cli_file *file)
{
  char *const folder = strndup(real, (size_t)(strrchr(real, '/') - real) + 1);
  const int error = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;
  if (error) refuse_place(file, folder ? folder : real, error);
  free(folder);
  return error == 0;
}

/// A pipe, a terminal or a device is written itself.
static char *name_special(const kg_cli_file *file)
{
  if (file->regular)
    refuse(file, "it must be a regular file");
  else if (access(file->path, W_OK) != 0)
    refuse_place(file, file->path, errno);
  else
    return strdup(file->path);
  return NULL;
}

static char *name_regular(const kg_cli_file *file, bool exists)
{
  char *real = exists ? realpath(file->path, NULL) : name_new(file);
  if (exists && !real) refuse_place(file, file->path, errno);
  if (!real || can_replace(real, file)) return real;
  free(real);
  return NULL;
}

static char *name_target(const kg_cli_file *file)
{
  const char *const path = file->path;
  if (!path[0]) {
    fprintf(stderr, "kedge: %sthe name of the %s is empty\n", file->place, file->what);
    return NULL;
  }
  if (!file->regular && strcmp(path, "-") == 0) {
    refuse(file, "give /dev/stdout for standard output, or ./- for a file of that name");
    return NULL;
  }
  struct stat info;
  const bool exists = stat(path, &info) == 0;
  const int error = strlen(path) + TEMPORARY_BYTES > PATH_MAX ? ENAMETOOLONG : exists ? 0 : errno;
  if (error && error != ENOENT) {
    refuse_place(file, path, error);
    return NULL;
  }
  if (exists && S_ISDIR(info.st_mode)) {
    refuse(file, "it is a folder");
    return NULL;
  }
  return exists && !S_ISREG(info.st_mode) ? name_special(file) : name_regular(file, exists);
}

static bool spares_inputs(const kg_cli_file *file)
{
  struct stat target, input;
  if (!file->inputs || stat(file->path, &target) != 0) return true;  // a new file
  for (int i = 0; i < 2; ++i) {
    if (!file->inputs[i] || stat(file->inputs[i], &input) != 0) continue;
    if (input.st_dev != target.st_dev || input.st_ino != target.st_ino) continue;
    refuse(file, "it is the input %s; give another name", file->inputs[i]);
    return false;
  }
  return true;
}

static bool ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), n = ending ? strlen(ending) : length;
  return length > n && strcmp(path + length - n, ending) == 0;
}

bool kg_cli_named(const kg_cli_file *file, const char *ending, const char *other)
{
  struct stat info;
  if (stat(file->path, &info) == 0 && !S_ISREG(info.st_mode)) return true;
  if (ends_in(file->path, ending) || ends_in(file->path, other)) return true;
  refuse(file, "its name must end in %s%s%s, by which programs know what it holds", ending,
         other ? " or " : "", other ? other : "");
  return false;
}

char *kg_cli_target(const kg_cli_file *file)
{
  char *const target = name_target(file);
  if (!target || spares_inputs(file)) return target;
  free(target);
  return NULL;
}

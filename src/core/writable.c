#include "core/writable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_BYTES = 64 };  // room that a temporary name takes beside the name (core/target.c)

bool kg_writable_refuse(kg_writable *w, const char *format, ...)
{
  const size_t size = sizeof w->sentence;
  const int n = snprintf(w->sentence, size, "cannot write the %s %s: ", w->what, w->path);
  va_list args;
  va_start(args, format);
  if (n > 0 && (size_t)n < size) vsnprintf(w->sentence + n, size - (size_t)n, format, args);
  va_end(args);
  return false;
}

/// Follow symbolic links to a name, which need not exist. Returns NULL, and sets errno, after too
/// many links or without memory.
static char *follow(const char *path)
{
  enum { LINKS_MAX = 40 };  // as many as Linux follows
  char link[PATH_MAX];
  char *at = strdup(path);
  for (int i = 0; at && i <= LINKS_MAX; ++i) {
    const ssize_t n = readlink(at, link, sizeof link - 1);
    if (n < 0) return at;
    link[n] = '\0';
    const char *const slash = link[0] == '/' ? NULL : strrchr(at, '/');
    const int folder = slash ? (int)(slash - at) + 1 : 0;
    char *next;
    if (asprintf(&next, "%.*s%s", folder, at, link) < 0) next = NULL;
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}

/// A file is replaced by a new one in its folder, so the folder has to be writable.
static bool check_folder(kg_writable *w)
{
  const char *const slash = strrchr(w->file, '/');
  const size_t length = slash ? (size_t)(slash > w->file ? slash - w->file : 1) : 0;
  char *const folder = slash ? strndup(w->file, length) : strdup(".");
  const bool good = folder && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
  const char *const error = strerror(errno);
  if (!good) kg_writable_refuse(w, "%s: %s", folder ? folder : "its folder", error);
  free(folder);
  return good;
}

/// Whether the name stands for an open stream, which may be a regular file that has content
/// already: kedge ... -r /dev/stdout >> log
static bool is_stream(const char *path)
{
  static const char *const names[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strncmp(path, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool check(kg_writable *w, bool regular)
{
  struct stat info;
  const bool exists = stat(w->path, &info) == 0;
  const int error = strlen(w->path) + TEMPORARY_BYTES > PATH_MAX ? ENAMETOOLONG
                    : exists                                     ? 0
                                                                 : errno;
  if (error && error != ENOENT) return kg_writable_refuse(w, "%s", strerror(error));
  if (exists && S_ISDIR(info.st_mode)) return kg_writable_refuse(w, "it is a folder");
  w->special = exists && (!S_ISREG(info.st_mode) || is_stream(w->path));
  if (w->special && regular) return kg_writable_refuse(w, "it must be a regular file");
  if (w->special && faccessat(AT_FDCWD, w->path, W_OK, AT_EACCESS) != 0)
    return kg_writable_refuse(w, "%s", strerror(errno));
  w->file = w->special ? strdup(w->path) : follow(w->path);
  if (!w->file) return kg_writable_refuse(w, "%s", strerror(errno));
  if (w->special) return true;
  if (w->file[strlen(w->file) - 1] == '/') return kg_writable_refuse(w, "it is a folder");
  return check_folder(w);
}

bool kg_writable_find(kg_writable *w, bool regular)
{
  w->file = NULL;
  if (!w->path[0]) {
    snprintf(w->sentence, sizeof w->sentence, "the name of the %s is empty", w->what);
    return false;
  }
  if (check(w, regular)) return true;
  free(w->file);
  w->file = NULL;
  return false;
}

static bool ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), n = ending ? strlen(ending) : length;
  return length > n && strcmp(path + length - n, ending) == 0;
}

bool kg_writable_named(kg_writable *w, const char *ending, const char *other)
{
  struct stat info;
  if (stat(w->path, &info) == 0 && !S_ISREG(info.st_mode)) return true;
  if (ends_in(w->path, ending) || ends_in(w->path, other)) return true;
  return kg_writable_refuse(w, "its name must end in %s%s%s, by which programs know what it holds",
                            ending, other ? " or " : "", other ? other : "");
}

#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/number.h"

/// Append all of a line, or cut the file back to where it began. Returns 0 or errno.
static int append(kg_table *t, const char *line, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t written = write(t->file, line + done, size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      if (done > 0) (void)!ftruncate(t->file, t->bytes);
      return error;
    }
    done += (size_t)written;
  }
  t->bytes += (int64_t)size;
  return 0;
}

/// A name, in quotes where it has what separates columns.
static void put_name(FILE *line, const char *name)
{
  if (!name[strcspn(name, ",\"\r\n")]) {
    fputs(name, line);
    return;
  }
  putc('"', line);
  for (; *name; ++name) {
    if (*name == '"') putc('"', line);
    putc(*name, line);
  }
  putc('"', line);
}

static void put_number(FILE *line, double value)
{
  char text[32];
  if (!isfinite(value)) return;
  kg_number_print(text, value);
  fputs(text, line);
}

/// The line of n names, or of values where names is NULL. Returns 0 or errno.
/// @param[out] text  the caller frees it, also after a failure
static int make_line(int n, const char *const *names, const double *values, char **text,
                     size_t *size)
{
  *text = NULL;
  FILE *const line = open_memstream(text, size);
  if (!line) return errno;
  for (int i = 0; i < n; ++i) {
    if (i > 0) putc(',', line);
    if (names)
      put_name(line, names[i]);
    else
      put_number(line, values[i]);
  }
  putc('\n', line);
  const bool failed = ferror(line) != 0;
  return fclose(line) == 0 && !failed ? 0 : ENOMEM;
}

/// Append names, or values where names is NULL. Returns 0 or errno.
static int put(kg_table *t, const char *const *names, const double *values)
{
  char *text;
  size_t size;
  int error = make_line(t->n, names, values, &text, &size);
  if (!error) error = append(t, text, size);
  free(text);
  return error;
}

int kg_table_open(kg_table *t, int n, const char *const *names)
{
  const char *const path = t->path;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  *t = (kg_table){.path = path, .every = t->every, .is_open = file >= 0, .file = file, .n = n};
  return file >= 0 ? put(t, names, NULL) : errno;
}

/// Find where the rows end whose second number, the step, is at most `steps`.
/// @param[in] text  with '\0' behind it
/// @return 0, or KG_TABLE_OTHER: rows are never `every` steps apart. More they are where some were
///         lost, with the machine.
static int find_end(kg_table *t, const char *text, size_t head, int64_t steps)
{
  int64_t last = 0, least = INT64_MAX;
  t->bytes = (int64_t)head;
  for (const char *line = text + head, *next; (next = strchr(line, '\n')); line = next + 1) {
    const char *const comma = strchr(line, ',');
    if (!comma || comma > next) break;
    const int64_t step = strtoll(comma + 1, NULL, 10);
    if (step > steps) break;
    if (t->rows > 0 && step - last < least) least = step - last;
    last = step;
    t->bytes = next + 1 - text;
    ++t->rows;
  }
  return t->every > 0 && t->rows > 1 && least != t->every ? KG_TABLE_OTHER : 0;
}

/// Read a whole file. Returns 0 or errno.
/// @param[out] text  '\0' behind it; the caller frees it, also after a failure
static int read_all(const char *path, char **text, size_t *bytes)
{
  struct stat info;
  FILE *const stream = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  *text = NULL;
  if (!stream) return errno ? errno : EIO;
  *text = calloc((size_t)info.st_size + 1, 1);
  if (*text) *bytes = fread(*text, 1, (size_t)info.st_size, stream);
  const int error = !*text ? ENOMEM : ferror(stream) ? EIO : 0;
  fclose(stream);
  return error;
}

int kg_table_resume(kg_table *t, int n, const char *const *names, int64_t steps)
{
  char *text = NULL, *head = NULL;
  size_t bytes = 0, size = 0;
  if (access(t->path, F_OK) != 0) return kg_table_open(t, n, names);
  const char *const path = t->path;
  *t = (kg_table){.path = path, .every = t->every, .n = n};
  int error = read_all(path, &text, &bytes);
  if (!error) error = make_line(n, names, NULL, &head, &size);
  if (!error && (bytes < size || memcmp(text, head, size) != 0)) error = KG_TABLE_OTHER;
  if (!error) error = find_end(t, text, size, steps);
  if (!error) t->file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  t->is_open = !error && t->file >= 0;
  if (!error && (!t->is_open || ftruncate(t->file, t->bytes) != 0)) error = errno;
  free(text);
  free(head);
  return error;
}

int kg_table_add(kg_table *t, const double *values)
{
  const int error = put(t, NULL, values);
  if (!error) ++t->rows;
  return error;
}

void kg_table_close(kg_table *t)
{
  if (t->is_open) close(t->file);
  t->is_open = false;
}

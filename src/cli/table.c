#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/// Append names, or values where names is NULL. Returns 0 or errno.
static int put(kg_table *t, const char *const *names, const double *values)
{
  char *text = NULL;
  size_t size = 0;
  FILE *const line = open_memstream(&text, &size);
  if (!line) return errno;
  for (int i = 0; i < t->n; ++i) {
    if (i > 0) putc(',', line);
    if (names)
      put_name(line, names[i]);
    else
      put_number(line, values[i]);
  }
  putc('\n', line);
  const bool failed = ferror(line) != 0;
  const int error = fclose(line) == 0 && !failed ? append(t, text, size) : ENOMEM;
  free(text);
  return error;
}

int kg_table_open(kg_table *t, int n, const char *const *names)
{
  const char *const path = t->path;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  *t = (kg_table){.path = path, .is_open = file >= 0, .file = file, .n = n};
  return file >= 0 ? put(t, names, NULL) : errno;
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

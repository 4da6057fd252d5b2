#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

/// Read everything; the size from stat() is only a first guess (pipes, /dev/stdin).
static kedge_status read_stream(kedge_context *ctx, FILE *stream, size_t guess, const char *path,
                                char **data, size_t *bytes)
{
  size_t capacity = guess + 1, n = 0;
  char *memory = malloc(capacity);
  while (memory) {
    n += fread(memory + n, 1, capacity - n, stream);
    if (n < capacity) break;
    char *larger = realloc(memory, capacity *= 2);
    if (!larger) free(memory);
    memory = larger;
  }
  KG_REQUIRE(ctx, memory, KEDGE_ERR_MEMORY, "no host memory to read %s", path);
  if (ferror(stream)) {
    free(memory);
    return KG_FAIL(ctx, KEDGE_ERR_IO, "cannot read %s: %s", path, strerror(errno));
  }
  memory[n] = '\0';
  *data = memory;
  *bytes = n;
  return KEDGE_OK;
}

/// Opens a file without waiting for somebody to write into a pipe, who may never come.
static FILE *open_stream(const char *path)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return NULL;
  FILE *const stream = fcntl(file, F_SETFL, 0) == 0 ? fdopen(file, "rb") : NULL;
  if (!stream) close(file);
  return stream;
}

/// Regular files and pipes: a device may have no end.
static kedge_status read_kind(kedge_context *ctx, FILE *stream, const char *path, char **data,
                              size_t *bytes)
{
  struct stat info;
  KG_REQUIRE(ctx, fstat(fileno(stream), &info) == 0, KEDGE_ERR_IO, "cannot read %s: %s", path,
             strerror(errno));
  KG_REQUIRE(ctx, !S_ISDIR(info.st_mode), KEDGE_ERR_IO, "cannot read %s: it is a folder", path);
  const bool is_pipe = S_ISFIFO(info.st_mode);
  KG_REQUIRE(ctx, S_ISREG(info.st_mode) || is_pipe, KEDGE_ERR_IO,
             "cannot read %s: it is a device, not a file", path);
  const int64_t available = kg_memory_available("");
  KG_REQUIRE(ctx, info.st_size <= available, KEDGE_ERR_MEMORY,
             "no host memory to read %s: it has %.2f GB and %.2f GB are free", path,
             1e-9 * (double)info.st_size, 1e-9 * (double)available);
  const size_t guess = info.st_size > 0 ? (size_t)info.st_size : 4096;
  KG_TRY(read_stream(ctx, stream, guess, path, data, bytes));
  if (!is_pipe || *bytes > 0) return KEDGE_OK;
  free(*data);
  *data = NULL;
  return KG_FAIL(ctx, KEDGE_ERR_IO, "cannot read %s: it is a pipe that nothing was written to",
                 path);
}

kedge_status kg_file_read(kedge_context *ctx, const char *path, char **data, size_t *bytes)
{
  *data = NULL;
  KG_REQUIRE(ctx, path[0], KEDGE_ERR_IO, "the name of the file to read is empty");
  FILE *stream = open_stream(path);
  KG_REQUIRE(ctx, stream, KEDGE_ERR_IO, "cannot open %s: %s", path, strerror(errno));
  const kedge_status status = read_kind(ctx, stream, path, data, bytes);
  fclose(stream);
  return status;
}

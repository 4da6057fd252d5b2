#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
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

FILE *kg_file_open(const char *path, int flags, const char *mode)
{
  const int file = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return NULL;
  FILE *const stream = fcntl(file, F_SETFL, flags & O_APPEND) == 0 ? fdopen(file, mode) : NULL;
  const int error = errno;
  if (!stream) close(file);
  errno = error;
  return stream;
}

kedge_status kg_text_end(kedge_context *ctx, FILE *stream, const char *what, char **text)
{
  const bool written = stream && !ferror(stream);
  if (stream && fclose(stream) == 0 && written) return KEDGE_OK;
  free(*text);
  *text = NULL;
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no host memory for %s", what);
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
  FILE *stream = kg_file_open(path, O_RDONLY, "rb");
  KG_REQUIRE(ctx, stream, KEDGE_ERR_IO, "cannot open %s: %s", path, strerror(errno));
  const kedge_status status = read_kind(ctx, stream, path, data, bytes);
  fclose(stream);
  return status;
}

#include "core/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

kedge_status kg_file_read(kedge_context *ctx, const char *path, char **data, size_t *bytes)
{
  *data = NULL;
  FILE *stream = fopen(path, "rb");
  KG_REQUIRE(ctx, stream, KEDGE_ERR_IO, "cannot open %s: %s", path, strerror(errno));
  struct stat info;
  kedge_status status = KEDGE_OK;
  if (fstat(fileno(stream), &info) == 0 && S_ISDIR(info.st_mode))
    status = KG_FAIL(ctx, KEDGE_ERR_IO, "cannot read %s: it is a folder", path);
  else
    status =
        read_stream(ctx, stream, info.st_size > 0 ? (size_t)info.st_size : 4096, path, data, bytes);
  fclose(stream);
  return status;
}

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

kedge_status kg_host_alloc(kedge_context *ctx, size_t count, size_t size, void *out)
{
  void *memory = NULL;
  size_t bytes;
  const bool overflow = __builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64;
  if (!overflow) memory = aligned_alloc(64, (bytes + 64) / 64 * 64);  // never 0 bytes
  memcpy(out, &memory, sizeof memory);  // `out` may be the address of any object pointer
  KG_REQUIRE(ctx, memory != NULL, KEDGE_ERR_MEMORY,
             "no host memory for %zu times %zu bytes; use a smaller mesh or order", count, size);
  return KEDGE_OK;
}

kedge_status kg_host_calloc(kedge_context *ctx, size_t count, size_t size, void *out)
{
  KG_TRY(kg_host_alloc(ctx, count, size, out));
  void *memory;
  memcpy(&memory, out, sizeof memory);
  memset(memory, 0, count * size);
  return KEDGE_OK;
}

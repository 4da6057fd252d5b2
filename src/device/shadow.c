// The shadow backend: host code on memory of its own that is filled with NaN, so that a forgotten
// copy or an entry never written shows up as NaN in tests without a GPU. Guard bytes around every
// array notice writes beside it when it is freed. Host code that reads device memory without a copy
// is not noticed.
#include <stdlib.h>
#include <string.h>

#include "device/host.h"
#include "device/context.h"
#include "core/memory.h"

enum { GUARD_BYTES = 64 };
static const unsigned char guard_byte = 0xa5;

static kedge_status shadow_alloc(kedge_context *ctx, size_t bytes, void **out)
{
  char *memory;
  KG_TRY(kg_host_alloc(ctx, bytes + 2 * GUARD_BYTES, 1, &memory));
  memset(memory, guard_byte, GUARD_BYTES);
  memset(memory + GUARD_BYTES, 0xff, bytes);  // all bits set is a NaN, and -1 as an index
  memset(memory + GUARD_BYTES + bytes, guard_byte, GUARD_BYTES);
  *out = memory + GUARD_BYTES;
  return KEDGE_OK;
}

static bool is_guard(const char *bytes)
{
  for (int i = 0; i < GUARD_BYTES; ++i)
    if ((unsigned char)bytes[i] != guard_byte) return false;
  return true;
}

/// A write beside the array is remembered until shadow_sync() can return a status.
static void shadow_free(kedge_context *ctx, void *memory, size_t bytes)
{
  char *start = (char *)memory - GUARD_BYTES;
  if (!is_guard(start) || !is_guard((char *)memory + bytes)) ++ctx->broken_guards;
  free(start);
}

static kedge_status shadow_sync(kedge_context *ctx)
{
  const int broken = ctx->broken_guards;
  ctx->broken_guards = 0;
  KG_REQUIRE(ctx, broken == 0, KEDGE_ERR_INTERNAL,
             "arrays in device memory with writes beside them: %d", broken);
  return KEDGE_OK;
}

const kg_backend_table kg_shadow_table = {
    .enter = kg_host_enter,
    .alloc = shadow_alloc,
    .free = shadow_free,
    .copy_in = kg_host_copy,
    .copy_out = kg_host_copy,
    .copy = kg_host_copy,
    .zero = kg_host_zero,
    .sync = shadow_sync,
    .free_bytes = kg_host_free_bytes,
    .repeat = kg_host_repeat,
    .repeat_free = kg_host_repeat_free,
    .close = kg_host_close,
};

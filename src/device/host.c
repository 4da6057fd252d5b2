// The host backend: device memory is host memory, touched first by the threads that will use it.
//
// The shadow backend: host code on memory of its own that is filled with NaN, so that a forgotten
// copy or an entry never written shows up as NaN in tests without a GPU. Guard bytes around every
// array notice writes beside it when it is freed. Host code that reads device memory without a copy
// is not noticed.
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"
#include "device/placement.h"

kedge_status kg_host_open(kedge_context *ctx, const kedge_context_options *options)
{
  const bool cuda = ctx->backend == KEDGE_BACKEND_CUDA;
  const int gpu = !cuda ? -1 : options->device < 0 ? 0 : options->device;
  return kg_place_threads(ctx, options->threads, options->bind_threads, gpu);
}

/// Nothing to enter, or to wait for.
static kedge_status host_ready(kedge_context *ctx)
{
  (void)ctx;
  return KEDGE_OK;
}

/// All memory is the host's.
static kedge_status host_join(kedge_context *ctx, const void *device)
{
  (void)ctx, (void)device;
  return KEDGE_OK;
}

static kedge_status host_alloc(kedge_context *ctx, size_t bytes, void **out)
{
  KG_TRY(kg_host_alloc(ctx, bytes, 1, out));
  // One page at a time, so that each lands on the NUMA node of the thread that will own that part.
  char *memory = *out;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, (int64_t)(bytes / 4096), 256))
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 0;
  return KEDGE_OK;
}

static void host_free(kedge_context *ctx, void *memory, size_t bytes)
{
  (void)ctx, (void)bytes;
  free(memory);
}

static kedge_status host_copy(kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  (void)ctx;
  memcpy(to, from, bytes);
  return KEDGE_OK;
}

static kedge_status host_zero(kedge_context *ctx, void *device, size_t bytes)
{
  (void)ctx;
  memset(device, 0, bytes);
  return KEDGE_OK;
}

static int64_t host_free_bytes(kedge_context *ctx)
{
  (void)ctx;
  return kg_memory_available("");
}

static kedge_status host_repeat(kedge_context *ctx, kg_repeat *repeat, int times,
                                kg_repeat_body *body, void *user)
{
  (void)ctx;
  ++repeat->calls;
  for (int i = 0; i < times && *repeat->stop == 0; ++i) KG_TRY(body(user));
  return KEDGE_OK;
}

static void host_repeat_free(kg_repeat *repeat)
{
  (void)repeat;
}

static void host_close(kedge_context *ctx)
{
  (void)ctx;
}

#define HOST_FUNCTIONS                                                                        \
  .enter = host_ready, .copy_in = host_copy, .copy_out = host_copy, .copy = host_copy,        \
  .zero = host_zero, .join = host_join, .free_bytes = host_free_bytes, .repeat = host_repeat, \
  .repeat_free = host_repeat_free, .close = host_close

const kg_backend_table kg_host_table = {HOST_FUNCTIONS, .alloc = host_alloc, .free = host_free,
                                        .sync = host_ready};

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

const kg_backend_table kg_shadow_table = {HOST_FUNCTIONS, .alloc = shadow_alloc,
                                          .free = shadow_free, .sync = shadow_sync};

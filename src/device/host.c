// The host backend: device memory is host memory, touched first by the threads that will use it.
#include "device/host.h"

#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "device/placement.h"

kedge_status kg_host_open(kedge_context *ctx, const kedge_context_options *options)
{
  const bool cuda = ctx->backend == KEDGE_BACKEND_CUDA;
  const int gpu = !cuda ? -1 : options->device < 0 ? 0 : options->device;
  return kg_place_threads(ctx, options->threads, options->bind_threads, gpu);
}

kedge_status kg_host_enter(kedge_context *ctx)
{
  (void)ctx;
  return KEDGE_OK;
}

static kedge_status host_alloc(kedge_context *ctx, size_t bytes, void **out)
{
  KG_TRY(kg_host_alloc(ctx, bytes, 1, out));
  // One page at a time, so that each lands on the NUMA node of the thread that will own that part.
  char *memory = *out;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (size_t i = 0; i < bytes; i += 4096) memory[i] = 0;
  return KEDGE_OK;
}

static void host_free(kedge_context *ctx, void *memory, size_t bytes)
{
  (void)ctx, (void)bytes;
  free(memory);
}

kedge_status kg_host_copy(kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  (void)ctx;
  memcpy(to, from, bytes);
  return KEDGE_OK;
}

kedge_status kg_host_zero(kedge_context *ctx, void *device, size_t bytes)
{
  (void)ctx;
  memset(device, 0, bytes);
  return KEDGE_OK;
}

static kedge_status host_sync(kedge_context *ctx)
{
  (void)ctx;
  return KEDGE_OK;
}

int64_t kg_host_free_bytes(kedge_context *ctx)
{
  (void)ctx;
  return kg_memory_available("");
}

kedge_status kg_host_repeat(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                            void *user)
{
  (void)ctx;
  ++repeat->calls;
  for (int i = 0; i < times && *repeat->stop == 0; ++i) KG_TRY(body(user));
  return KEDGE_OK;
}

void kg_host_repeat_free(kg_repeat *repeat)
{
  (void)repeat;
}

void kg_host_close(kedge_context *ctx)
{
  (void)ctx;
}

const kg_backend_table kg_host_table = {
    .enter = kg_host_enter,
    .alloc = host_alloc,
    .free = host_free,
    .copy_in = kg_host_copy,
    .copy_out = kg_host_copy,
    .copy = kg_host_copy,
    .zero = kg_host_zero,
    .sync = host_sync,
    .free_bytes = kg_host_free_bytes,
    .repeat = kg_host_repeat,
    .repeat_free = kg_host_repeat_free,
    .close = kg_host_close,
};

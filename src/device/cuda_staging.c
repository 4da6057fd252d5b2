#include "device/cuda_staging.h"

#include <string.h>

#include "device/cuda_rt.h"
#include "device/fetch.h"
#include "device/team.h"

enum { STAGING_BYTES = 8 << 20, PAGE = 4096 };

// What an error was made by.
static const char *const out_of = "copying from the device", *const into = "copying to the device";

kedge_status kg_staging_open(kedge_context *ctx, int device, kg_staging *staging)
{
  pthread_mutex_init(&staging->taken, NULL);
  staging->open = true;
  KG_TRY(kg_cuda_check(ctx, cudaStreamCreateWithFlags(&staging->aside, cudaStreamNonBlocking),
                       "creating a stream"));
  for (int i = 0; i < 2; ++i)
    KG_TRY(kg_cuda_check(ctx, cudaEventCreateWithFlags(&staging->done[i], cudaEventDisableTiming),
                         "creating an event"));
  KG_TRY(kg_pinned_alloc(ctx, device, (size_t)2 * STAGING_BYTES, &staging->buffer[0]));
  staging->buffer[1].data =  // the other half, which has no size of its own to release
      (char *)staging->buffer[0].data + STAGING_BYTES;
  return KEDGE_OK;
}

void kg_staging_close(kg_staging *staging)
{
  if (!staging->open) return;
  for (int i = 0; i < 2; ++i)
    if (staging->done[i]) cudaEventDestroy(staging->done[i]);
  if (staging->aside) cudaStreamDestroy(staging->aside);
  kg_pinned_free(&staging->buffer[0]);
  pthread_mutex_destroy(&staging->taken);
}

/// Threads for so many pieces of work. For little they are not woken, which can take longer than
/// all of it.
static int threads_for(const kedge_context *ctx, size_t pieces)
{
  const size_t few = 4;
  return pieces > few && kg_team_has(ctx->threads) ? ctx->threads : 1;
}

static void copy_by_threads(const kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  const size_t piece = 1 << 19, pieces = (bytes + piece - 1) / piece;
#pragma omp parallel for schedule(static) num_threads(threads_for(ctx, pieces))
  for (size_t i = 0; i < pieces; ++i) {
    const size_t at = i * piece, n = bytes - at < piece ? bytes - at : piece;
    memcpy((char *)to + at, (const char *)from + at, n);
  }
}

/// Write to each page of memory that is about to be overwritten. A first touch costs more than the
/// copy into the page, and all threads share that work best where each has a range of its own.
static void touch_by_threads(const kedge_context *ctx, void *memory, size_t bytes)
{
  const size_t pages = bytes / PAGE;
  volatile char *const first = memory;
  const int threads = threads_for(ctx, bytes / STAGING_BYTES);
  if (threads == 1) return;  // those that copy touch little memory as they go
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t i = 0; i < pages; ++i) first[i * PAGE] = 0;
}

static kedge_status stage_in(kedge_context *ctx, void *device, const void *host, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  for (size_t at = 0, i = 0; at < bytes; at += STAGING_BYTES, i ^= 1) {
    const size_t n = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
    KG_TRY(kg_cuda_check(ctx, cudaEventSynchronize(s->done[i]), into));
    copy_by_threads(ctx, s->buffer[i].data, (const char *)host + at, n);
    KG_TRY(kg_cuda_check(ctx,
                         cudaMemcpyAsync((char *)device + at, s->buffer[i].data, n,
                                         cudaMemcpyHostToDevice, kg_cuda_stream(ctx)),
                         into));
    KG_TRY(kg_cuda_check(ctx, cudaEventRecord(s->done[i], kg_cuda_stream(ctx)), into));
  }
  return KEDGE_OK;
}

static kedge_status start_copy_out(kedge_context *ctx, cudaStream_t stream, int i,
                                   const char *device, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  KG_TRY(kg_cuda_check(
      ctx, cudaMemcpyAsync(s->buffer[i].data, device, bytes, cudaMemcpyDeviceToHost, stream),
      out_of));
  return kg_cuda_check(ctx, cudaEventRecord(s->done[i], stream), out_of);
}

static kedge_status stage_out(kedge_context *ctx, cudaStream_t stream, void *host,
                              const void *device, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  const size_t n_pieces = (bytes + STAGING_BYTES - 1) / STAGING_BYTES;
  for (size_t piece = 0; piece <= n_pieces; ++piece) {
    const size_t at = piece * STAGING_BYTES;
    if (piece < n_pieces)
      KG_TRY(start_copy_out(ctx, stream, piece % 2, (const char *)device + at,
                            bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES));
    if (piece == 0) {
      touch_by_threads(ctx, host, bytes);
      continue;
    }
    const size_t before = at - STAGING_BYTES;
    KG_TRY(kg_cuda_check(ctx, cudaEventSynchronize(s->done[(piece - 1) % 2]), out_of));
    copy_by_threads(ctx, (char *)host + before, s->buffer[(piece - 1) % 2].data,
                    bytes - before < STAGING_BYTES ? bytes - before : STAGING_BYTES);
  }
  return KEDGE_OK;
}

kedge_status kg_cuda_copy_in(kedge_context *ctx, void *device, const void *host, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  pthread_mutex_lock(&s->taken);
  const kedge_status status = stage_in(ctx, device, host, bytes);
  pthread_mutex_unlock(&s->taken);
  return status;
}

kedge_status kg_cuda_copy_out(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  pthread_mutex_lock(&s->taken);
  const kedge_status status = stage_out(ctx, kg_cuda_stream(ctx), host, device, bytes);
  pthread_mutex_unlock(&s->taken);
  return status;
}

/// What the context's stream still copies from the buffers goes first.
kedge_status kg_cuda_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  kg_staging *const s = &kg_cuda(ctx)->staging;
  const int before = kg_cuda_visit(ctx);
  kedge_status status = KEDGE_OK;
  pthread_mutex_lock(&s->taken);
  for (int i = 0; status == KEDGE_OK && i < 2; ++i)
    status = kg_cuda_check(ctx, cudaEventSynchronize(s->done[i]), out_of);
  if (status == KEDGE_OK) status = stage_out(ctx, s->aside, host, device, bytes);
  pthread_mutex_unlock(&s->taken);
  kg_cuda_leave(before);
  return status;
}

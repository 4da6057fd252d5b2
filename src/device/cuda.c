// The CUDA backend: one device, one stream; cuda_staging.c has the copies.
//
// Arrays of up to POOLED_BYTES are of a pool, in the order of the stream: allocating and releasing
// wait for nothing, and what a solve has released is there for the next one. Large arrays come from
// the driver and go back to it: there a call costs little beside the work, and no hole is left
// between them.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_rt.h"
#include "core/memory.h"
#include "device/fetch.h"

enum {
  POOLED_BYTES = 128 << 20,
  KEPT_BYTES =
      512 << 20,  // the pool gives back what it holds beyond, when the host waits for the device
};

kedge_status kg_cuda_check(kedge_context *ctx, cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return KEDGE_OK;
  cudaGetLastError();  // the next launch must not report this one
  const kedge_status code =
      error == cudaErrorMemoryAllocation ? KEDGE_ERR_MEMORY : KEDGE_ERR_DEVICE;
  return KG_FAIL(ctx, code, "%s on the GPU failed: %s", what, cudaGetErrorString(error));
}

kedge_status kg_cuda_launched(kedge_context *ctx, const char *kernel)
{
  KG_TRY(kg_cuda_check(ctx, cudaGetLastError(), kernel));
#ifndef NDEBUG
  KG_TRY(kg_cuda_check(ctx, cudaStreamSynchronize(kg_cuda_stream(ctx)), kernel));
#endif
  return KEDGE_OK;
}

kedge_status kg_cuda_ask_for_shared(kedge_context *ctx, const void *kernel, size_t bytes,
                                    const char *name)
{
  const int limit = kg_cuda(ctx)->shared_limit;
  KG_REQUIRE(ctx, bytes <= (size_t)limit, KEDGE_ERR_UNSUPPORTED,
             "%s needs %zu bytes of shared memory a block and this GPU has %d: take a lower order "
             "or backend = host",
             name, bytes, limit);
  // The bound belongs to the process: one of `bytes` would refuse what another thread is about to
  // launch with more. No kernel has more than KG_STATIC_SHARED, so this one is the limit or more.
  struct cudaFuncAttributes kernel_is;
  KG_TRY(kg_cuda_check(ctx, cudaFuncGetAttributes(&kernel_is, kernel), name));
  const int most = limit + KG_STATIC_SHARED - (int)kernel_is.sharedSizeBytes;
  if (kernel_is.maxDynamicSharedSizeBytes == most) return KEDGE_OK;
  return kg_cuda_check(
      ctx, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), name);
}

unsigned kg_cuda_blocks(kedge_context *ctx, int64_t pieces, int a_multiprocessor)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  int64_t blocks = (int64_t)a_multiprocessor * state->multiprocessors;
  if (blocks > state->blocks_most) blocks = state->blocks_most;
  if (blocks > pieces) blocks = pieces;
  return blocks < 1 ? 1 : (unsigned)blocks;
}

/// Reads KEDGE_BLOCKS, the most blocks of a kernel: with few of them each block goes round on a
/// small problem, as on a large one.
static kedge_status read_blocks_most(kedge_context *ctx, int *most)
{
  const char *const found = getenv("KEDGE_BLOCKS");
  *most = INT_MAX;
  if (!found || found[0] == '\0') return KEDGE_OK;
  char *end;
  errno = 0;
  const long value = strtol(found, &end, 10);
  KG_REQUIRE(
      ctx, *end == '\0' && errno == 0 && value >= 1 && value <= INT_MAX, KEDGE_ERR_INPUT,
      "the environment variable KEDGE_BLOCKS is \"%s\", and may be a number of blocks from 1 "
      "on; choose one, or unset it",
      found);
  *most = (int)value;
  return KEDGE_OK;
}

static void close_state(kg_cuda_state *state)
{
  kg_staging_close(&state->staging);
  if (state->joined) cudaEventDestroy(state->joined);
  cudaFree(state->counters);
  cudaFree(state->first_bad);
  if (state->pool) cudaMemPoolDestroy(state->pool);
  if (state->stream) cudaStreamDestroy(state->stream);
  cudaGetLastError();  // nobody is left to hear of it
  free(state);
}

static kedge_status open_pool(kedge_context *ctx, kg_cuda_state *state)
{
  int supported;
  KG_TRY(kg_cuda_check(
      ctx, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, state->device),
      "asking for memory pools"));
  if (!supported) return KEDGE_OK;
  const struct cudaMemPoolProps properties = {
      .allocType = cudaMemAllocationTypePinned,
      .location = {.type = cudaMemLocationTypeDevice, .id = state->device}};
  KG_TRY(kg_cuda_check(ctx, cudaMemPoolCreate(&state->pool, &properties), "making a memory pool"));
  uint64_t kept = KEPT_BYTES;
  return kg_cuda_check(ctx,
                       cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &kept),
                       "making a memory pool");
}

/// The first array of a pool takes the driver some 10 ms, whatever its size. One that fails is no
/// fault yet.
static void *warm_pool(void *user)
{
  const kg_cuda_state *state = user;
  void *memory;
  if (cudaSetDevice(state->device) == cudaSuccess &&
      cudaMallocFromPoolAsync(&memory, 1, state->pool, state->stream) == cudaSuccess)
    cudaFreeAsync(memory, state->stream);
  cudaGetLastError();
  return NULL;
}

/// Allocate the staging buffers, while a second thread has the driver make the pool: finding out
/// where the GPU is, and the first touch of the buffers, keep this thread busy anyway.
static kedge_status open_staging(kedge_context *ctx, kg_cuda_state *state)
{
  pthread_t thread;
  const bool warms = state->pool && pthread_create(&thread, NULL, warm_pool, state) == 0;
  const kedge_status status = kg_staging_open(ctx, state->device, &state->staging);
  if (warms) pthread_join(thread, NULL);
  return status;
}

static kedge_status open_state(kedge_context *ctx, kg_cuda_state *state)
{
  KG_TRY(kg_cuda_check(ctx, cudaSetDevice(state->device), "choosing the device"));
  KG_TRY(kg_cuda_check(ctx,
                       cudaDeviceGetAttribute(&state->multiprocessors,
                                              cudaDevAttrMultiProcessorCount, state->device),
                       "asking for the multiprocessors"));
  KG_TRY(read_blocks_most(ctx, &state->blocks_most));
  KG_TRY(kg_cuda_code_version(ctx, &state->code_major));
  KG_TRY(kg_cuda_check(ctx, cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking),
                       "creating a stream"));
  KG_TRY(open_pool(ctx, state));
  const size_t counters = KG_CUDA_COUNTERS * sizeof(unsigned);
  KG_TRY(
      kg_cuda_check(ctx, cudaMalloc((void **)&state->counters, counters), "allocating counters"));
  KG_TRY(kg_cuda_check(ctx, cudaMalloc((void **)&state->first_bad, sizeof *state->first_bad),
                       "allocating counters"));
  KG_TRY(kg_cuda_check(ctx, cudaMemset(state->counters, 0, counters), "clearing counters"));
  KG_TRY(kg_cuda_check(ctx, cudaEventCreateWithFlags(&state->joined, cudaEventDisableTiming),
                       "creating an event"));
  return open_staging(ctx, state);
}

kedge_status kg_cuda_open(kedge_context *ctx, const kedge_context_options *options)
{
  int driver = 0, n_devices = 0;
  KG_REQUIRE(ctx, cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0, KEDGE_ERR_UNSUPPORTED,
             "no usable NVIDIA GPU: no NVIDIA driver is installed");
  const cudaError_t error = cudaGetDeviceCount(&n_devices);
  KG_REQUIRE(ctx, error == cudaSuccess && n_devices > 0, KEDGE_ERR_UNSUPPORTED,
             "no usable NVIDIA GPU: %s",
             error == cudaSuccess ? "no device is visible" : cudaGetErrorString(error));
  const int device = options->device < 0 ? 0 : options->device;
  KG_REQUIRE(ctx, device < n_devices, KEDGE_ERR_UNSUPPORTED,
             "there is no CUDA device %d: %d visible, numbered from 0", device, n_devices);
  kg_cuda_state *state;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *state, &state));
  state->device = device;
  struct cudaDeviceProp properties;
  kedge_status status =
      kg_cuda_check(ctx, cudaGetDeviceProperties(&properties, device), "asking for properties");
  if (status == KEDGE_OK) status = open_state(ctx, state);
  if (status != KEDGE_OK) {
    close_state(state);
    return status;
  }
  state->shared_limit = (int)properties.sharedMemPerBlockOptin - KG_STATIC_SHARED;
  state->cooperates = properties.cooperativeLaunch != 0;
  state->loops = driver >= 12040;
  snprintf(ctx->device, sizeof ctx->device, "%.*s", (int)sizeof ctx->device - 1, properties.name);
  ctx->state = state;
  return KEDGE_OK;
}

static kedge_status cuda_enter(kedge_context *ctx)
{
  return kg_cuda_check(ctx, cudaSetDevice(kg_cuda(ctx)->device), "choosing the device");
}

int kg_cuda_visit(kedge_context *ctx)
{
  const int device = kg_cuda(ctx)->device;
  int before = KG_NO_DEVICE;
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(device) != cudaSuccess)
    cudaGetLastError();  // what is done there will tell
  return before == device ? KG_NO_DEVICE : before;
}

void kg_cuda_leave(int before)
{
  if (before != KG_NO_DEVICE) cudaSetDevice(before);
}

static bool is_pooled(const kg_cuda_state *state, size_t bytes)
{
  return state->pool && bytes <= POOLED_BYTES;
}

static cudaError_t take_memory(const kg_cuda_state *state, size_t bytes, void **out)
{
  return is_pooled(state, bytes) ? cudaMallocFromPoolAsync(out, bytes, state->pool, state->stream)
                                 : cudaMalloc(out, bytes);
}

/// Allocate memory. Where there is no room, the pool first gives back the memory that it keeps.
static kedge_status cuda_alloc(kedge_context *ctx, size_t bytes, void **out)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  cudaError_t error = take_memory(state, bytes, out);
  if (error == cudaErrorMemoryAllocation && state->pool) {
    cudaGetLastError();  // not sticky: the context stays usable
    KG_TRY(kg_sync(ctx));
    KG_TRY(kg_cuda_check(ctx, cudaMemPoolTrimTo(state->pool, 0), "releasing memory"));
    error = take_memory(state, bytes, out);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return KG_FAIL(ctx, KEDGE_ERR_MEMORY,
                   "the GPU has no room for %zu more bytes (%lld are in use)", bytes,
                   (long long)ctx->bytes_in_use);
  }
  return kg_cuda_check(ctx, error, "allocating memory");
}

/// Whatever thread frees: a solution may be destroyed in one that computes on another device.
static void cuda_free(kedge_context *ctx, void *memory, size_t bytes)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  const int before = kg_cuda_visit(ctx);
  if (is_pooled(state, bytes))
    cudaFreeAsync(memory, state->stream);
  else
    cudaFree(memory);
  kg_cuda_leave(before);
}

static kedge_status cuda_copy(kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  return kg_cuda_check(
      ctx, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, kg_cuda_stream(ctx)),
      "copying on the device");
}

static kedge_status cuda_zero(kedge_context *ctx, void *device, size_t bytes)
{
  return kg_cuda_check(ctx, cudaMemsetAsync(device, 0, bytes, kg_cuda_stream(ctx)),
                       "clearing memory");
}

static kedge_status cuda_sync(kedge_context *ctx)
{
  return kg_cuda_check(ctx, cudaStreamSynchronize(kg_cuda_stream(ctx)), "a kernel");
}

static kedge_status cuda_join(kedge_context *ctx, const void *device)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  struct cudaPointerAttributes is;
  KG_TRY(kg_cuda_check(ctx, cudaPointerGetAttributes(&is, device), "asking for an array"));
  const bool managed = is.type == cudaMemoryTypeManaged;
  KG_REQUIRE(ctx, managed || is.type == cudaMemoryTypeDevice, KEDGE_ERR_ARG,
             "an array in memory of the host is given where the GPU is to read or write it");
  KG_REQUIRE(ctx, managed || is.device == state->device, KEDGE_ERR_ARG,
             "an array is on CUDA device %d, and this context is on %d: copy it there", is.device,
             state->device);
  KG_TRY(kg_cuda_check(ctx, cudaEventRecord(state->joined, cudaStreamLegacy),
                       "waiting for the default stream"));
  return kg_cuda_check(ctx, cudaStreamWaitEvent(state->stream, state->joined, 0),
                       "waiting for the default stream");
}

/// The bytes that the pool holds and nobody uses.
static size_t kept_bytes(kedge_context *ctx)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  uint64_t reserved = 0, used = 0;
  if (!state->pool || cudaStreamSynchronize(state->stream) != cudaSuccess ||
      cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrReservedMemCurrent, &reserved) !=
          cudaSuccess ||
      cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return reserved - used;
}

/// Return the bytes that are free, less what the driver takes beside our arrays in a solve:
/// rounding to pages of 2 MiB, modules, graphs.
static int64_t cuda_free_bytes(kedge_context *ctx)
{
  const size_t beside = (size_t)256 << 20;
  size_t available = 0, total = 0;
  if (cudaMemGetInfo(&available, &total) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  available += kept_bytes(ctx);
  return available > beside ? (int64_t)(available - beside) : 0;
}

static void cuda_close(kedge_context *ctx)
{
  if (ctx->state) {
    cudaSetDevice(kg_cuda(ctx)->device);  // whatever thread destroys the context
    close_state(kg_cuda(ctx));
  }
  ctx->state = NULL;
  kg_host_table.close(ctx);
}

const kg_backend_table kg_cuda_table = {
    .enter = cuda_enter,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy_in = kg_cuda_copy_in,
    .copy_out = kg_cuda_copy_out,
    .copy = cuda_copy,
    .zero = cuda_zero,
    .sync = cuda_sync,
    .join = cuda_join,
    .free_bytes = cuda_free_bytes,
    .repeat = kg_cuda_repeat,
    .repeat_free = kg_cuda_repeat_free,
    .close = cuda_close,
};

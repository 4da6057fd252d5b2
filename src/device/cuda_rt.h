/// @file
/// What CUDA code shares: the stream, the check of a call, sums in a fixed order.
#pragma once
#include <cuda_runtime.h>

#include "device/context.h"
#include "device/cuda_staging.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KG_STATIC_SHARED = 1024 };  ///< bytes a block keeps free for static shared memory

/// Counters in device memory, by the kernels that count with them.
enum kg_cuda_counter {
  KG_COUNTER_TRACE_APPLY,
  KG_COUNTER_TRACE_GATHER,
  KG_COUNTER_ELL,
  KG_COUNTER_VECTORS,
  KG_COUNTER_REPEAT,
  KG_CUDA_COUNTERS
};

/// The shared memory that a kernel was last prepared for, kept because asking again costs
/// microseconds.
typedef struct kg_cuda_residency {
  size_t shared;  ///< bytes a block
  int blocks;     ///< blocks that fit a multiprocessor
} kg_cuda_residency;

/// The state of a CUDA context.
typedef struct kg_cuda_state {
  int device;
  int multiprocessors;
  int blocks_most;   ///< of kg_cuda_blocks(): $KEDGE_BLOCKS, without it INT_MAX
  int code_major;    ///< capability the kernels were compiled for; not above that of the GPU
  int shared_limit;  ///< bytes of dynamic shared memory a block may ask for
  bool cooperates;   ///< the blocks of a kernel may wait for each other, when all are resident
  bool loops;        ///< graphs may have loops: the driver has conditional nodes
  cudaStream_t stream;
  cudaMemPool_t pool;  ///< NULL: the device has none
  cudaEvent_t joined;  ///< of the last kg_join()
  kg_staging staging;
  /// of the streaming trace kernel, by number, form of K^e (PACKED, REDUCED, of quadrilaterals) and
  /// order
  kg_cuda_residency stream_residency[2][3][KEDGE_ORDER_MAX + 2];
  /// [KG_CUDA_COUNTERS] in device memory; each but that of `repeat` is zero between its kernels
  unsigned *counters;
  /// in device memory: the smallest index of a bad value, by the kernel that looked last
  unsigned long long *first_bad;
} kg_cuda_state;

static inline kg_cuda_state *kg_cuda(kedge_context *ctx)
{
  return (kg_cuda_state *)ctx->state;
}

static inline cudaStream_t kg_cuda_stream(kedge_context *ctx)
{
  return kg_cuda(ctx)->stream;
}

/// The major capability for which the kernels were compiled that run on this device (__CUDA_ARCH__
/// by 100 in their code). A newer GPU runs older code, without what it could do itself.
/// @retval KEDGE_ERR_UNSUPPORTED  there are none for this GPU
kedge_status kg_cuda_code_version(kedge_context *ctx, int *major);

/// The members `repeat` and `repeat_free` of kg_backend_table (cuda_repeat.cu).
kedge_status kg_cuda_repeat(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                            void *user);
void kg_cuda_repeat_free(kg_repeat *repeat);

/// KEDGE_OK, or a sentence with what was tried and CUDA's own words; out of memory is
/// KEDGE_ERR_MEMORY.
kedge_status kg_cuda_check(kedge_context *ctx, cudaError_t error, const char *what);
/// After a launch: its error; in debug builds waits for the kernel, so that a fault names it.
kedge_status kg_cuda_launched(kedge_context *ctx, const char *kernel);

/// Allow the blocks of a kernel all the dynamic shared memory of the GPU: `bytes` at least.
/// @retval KEDGE_ERR_UNSUPPORTED  the GPU has less
kedge_status kg_cuda_ask_for_shared(kedge_context *ctx, const void *kernel, size_t bytes,
                                    const char *name);

/// Blocks of a kernel each of which takes one piece of work after another: as many as
/// `a_multiprocessor` of them fill the device, no more than there are pieces or KEDGE_BLOCKS in the
/// environment says (docs/testing.md), and at least one.
unsigned kg_cuda_blocks(kedge_context *ctx, int64_t pieces, int a_multiprocessor);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/// Sum over a block of whole warps, in a fixed order; the result is valid in thread 0.
/// @param s_warp  shared memory, one double a warp; free again after the next barrier
__device__ __forceinline__ double kg_block_sum(double value, double *s_warp)
{
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  __syncthreads();
  if (lane == 0) s_warp[warp] = value;
  __syncthreads();
  double sum = 0.0;
  if (threadIdx.x == 0)
    for (unsigned w = 0; w < (blockDim.x + 31) / 32; ++w) sum += s_warp[w];
  return sum;
}

/// True in every thread of the block that arrives last, which then sees what the others wrote
/// before. The counter is reset for the next kernel.
__device__ __forceinline__ bool kg_last_block(unsigned *counter)
{
  __shared__ bool s_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    s_last = atomicAdd(counter, 1u) == gridDim.x - 1;
    if (s_last) *counter = 0;
  }
  __syncthreads();
  if (s_last) __threadfence();
  return s_last;
}

/// Sum of an array in device memory by one block, in a fixed order; valid in thread 0.
__device__ __forceinline__ double kg_array_sum(const double *values, int64_t n, double *s_warp)
{
  double sum = 0.0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += __ldcg(values + i);
  return kg_block_sum(sum, s_warp);
}
#endif

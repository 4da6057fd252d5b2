// pcg_many_cuda.cu: the passes of many vectors.
// Map     as many blocks as the device holds at once stride over pairs of numbers: threads an even
//         number apart have the same two vectors. Kernels of the scalars are chained: they take
//         next to no time of their own.
// Cost    direction reads x, z, p and writes x, p
#include "device/cuda_chain.cuh"
#include "device/cuda_each.cuh"
#include "ops/vector/pcg_many.h"
#include "ops/vector/row_passes.cuh"

namespace
{

constexpr int K = KG_VECTORS;

/// Numbers 2 i and 2 i + 1 of z.
__device__ __forceinline__ double2 load_z(const kg_pcg_many_args &a, int64_t i)
{
  if (a.z_single == nullptr) return ((const double2 *)a.z)[i];
  const float2 z = ((const float2 *)a.z_single)[i];
  return make_double2(z.x, z.y);
}

/// The last block to arrive renews the states: every block has read them by then.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    direction_kernel(const kg_pcg_many_args a, unsigned *counter)
{
  __shared__ kg_pcg_turn s_turn[K];
  if (threadIdx.x < K)
    s_turn[threadIdx.x] = kg_pcg_turn_of(a.states->of + threadIdx.x, blockIdx.x == 0);
  __syncthreads();
  const kg_pcg_turn even = s_turn[threadIdx.x % (K / 2) * 2];
  const kg_pcg_turn odd = s_turn[threadIdx.x % (K / 2) * 2 + 1];
  const bool lags = even.lags || odd.lags, runs = even.runs || odd.runs;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = kg_thread_number(); (lags || runs) && i < a.n / 2; i += stride) {
    double2 p = ((const double2 *)a.p)[i], x, z;
    if (lags) x = ((const double2 *)a.x)[i];
    if (runs) z = load_z(a, i);
    if (even.lags) x.x += even.alpha * p.x;
    if (odd.lags) x.y += odd.alpha * p.y;
    if (even.runs) p.x = z.x + even.beta * p.x;
    if (odd.runs) p.y = z.y + odd.beta * p.y;
    if (lags) ((double2 *)a.x)[i] = x;
    if (runs) ((double2 *)a.p)[i] = p;
  }
  if (kg_last_block(counter) && threadIdx.x < K)
    kg_pcg_turn_end(a.states->of + threadIdx.x, s_turn + threadIdx.x);
}

__global__ void __launch_bounds__(32) step_kernel(const kg_pcg_many_args a)
{
  kg_chain_wait();
  if (threadIdx.x < K) kg_pcg_find_step(a.states->of + threadIdx.x);
}

__global__ void __launch_bounds__(32) count_kernel(const kg_pcg_many_args a)
{
  kg_chain_wait();
  if (threadIdx.x == 0) kg_pcg_count_all(a.states, a.steps);
}

/// Thread = a number of vectors side by side.
__global__ void __launch_bounds__(THREADS) interleave_kernel(const kg_interleave_args a)
{
  const int64_t i = kg_thread_number(), row = i / K, apart = i % K * a.n + row;
  if (row >= a.n) return;
  if (a.apart)
    a.to[apart] = a.from[i];
  else
    a.to[i] = a.from[apart];
}

}  // namespace

extern "C" kedge_status kg_pcg_many_direction_cuda(kedge_context *ctx, const kg_pcg_many_args *a)
{
  return launch(ctx, a, direction_kernel, "pcg_direction");
}

extern "C" kedge_status kg_pcg_many_step_cuda(kedge_context *ctx, const kg_pcg_many_args *a)
{
  return kg_chain_launch(ctx, "pcg_step", step_kernel, 1, 32, 0, true, *a);
}

extern "C" kedge_status kg_pcg_many_count_cuda(kedge_context *ctx, const kg_pcg_many_args *a)
{
  return kg_chain_launch(ctx, "pcg_count", count_kernel, 1, 32, 0, true, *a);
}

extern "C" kedge_status kg_interleave_cuda(kedge_context *ctx, const kg_interleave_args *a)
{
  return kg_launch_each<THREADS>(ctx, "interleave", a->n * K, interleave_kernel, *a);
}

// grid_sum.cuh: how kernels end a sum over the grid.
#pragma once
#include "device/cuda_rt.h"
#include "ops/pass.h"

/// *sum over all threads of the grid, in a fixed order; true in thread 0 of the last block to
/// arrive, which has the total. Called by whole blocks, whose shared memory and writes before it
/// are in order afterwards.
/// @param partial  work: [block]
/// @param s_warp   shared memory, one double a warp
__device__ __forceinline__ bool kg_grid_sum(double *sum, double *partial, unsigned *counter,
                                            double *s_warp)
{
  const double block_sum = kg_block_sum(*sum, s_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = block_sum;
  if (!kg_last_block(counter)) return false;
  *sum = kg_array_sum(partial, gridDim.x, s_warp);
  return threadIdx.x == 0;
}

/// Sums of K vectors, which are those of threads K apart; thread v of the last block to arrive has
/// the total of vector v. Parts are [vector][block].
/// @param s_sum  shared memory, K doubles a warp
template <int K>
__device__ __forceinline__ bool kg_grid_sums(double *sum, const kg_sum &of, unsigned *counter,
                                             double *s_sum)
{
  const int warps = blockDim.x / 32, thread = threadIdx.x;
  const auto block_sums = [&](double part) {
    for (int offset = 16; offset >= K; offset /= 2)
      part += __shfl_down_sync(0xffffffffu, part, offset);
    __syncthreads();
    if (thread % 32 < K) s_sum[thread / 32 * K + thread % 32] = part;
    __syncthreads();
    double all = 0.0;
    for (int w = 0; thread < K && w < warps; ++w) all += s_sum[w * K + thread];
    return all;
  };
  const double block_sum = block_sums(*sum);
  if (thread < K) of.part[thread * of.parts + blockIdx.x] = block_sum;
  if (!kg_last_block(counter)) return false;
  double part = 0.0;
  for (unsigned i = thread / K; i < gridDim.x; i += blockDim.x / K)
    part += __ldcg(of.part + thread % K * of.parts + i);
  *sum = block_sums(part);
  return thread < K;
}

/// Write kg_grid_sum() where the caller wants the total. Kernels behind this one read it.
__device__ __forceinline__ void kg_grid_sum_end(double part, const kg_sum &sum, unsigned *counter,
                                                double *s_warp)
{
  if (kg_grid_sum(&part, sum.part, counter, s_warp)) kg_sum_end(&sum, part);
}

/// Write kg_grid_sums() where the caller wants the totals.
template <int K>
__device__ __forceinline__ void kg_grid_sums_end(double part, const kg_sum &sum, unsigned *counter,
                                                 double *s_sum)
{
  if constexpr (K == 1) {
    kg_grid_sum_end(part, sum, counter, s_sum);
  } else {
    if (!kg_grid_sums<K>(&part, sum, counter, s_sum)) return;
    const kg_sum of = kg_sum_of(&sum, threadIdx.x);
    kg_sum_end(&of, part);
  }
}

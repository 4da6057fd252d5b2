// judged_sum.cuh: how kernels end that sum over the grid, as products of two vectors do, p . A p or
// r . z, and what it says of conjugate gradients.
#pragma once
#include "backend/cuda_rt.h"
#include "ops/cg_state.h"

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

/// JUDGE(state, that sum).
template <void (*JUDGE)(kg_cg_state *, double)>
__device__ __forceinline__ void kg_sum_and_judge(double part, double *partial, kg_cg_state *state,
                                                 unsigned *counter, double *s_warp)
{
  if (kg_grid_sum(&part, partial, counter, s_warp)) JUDGE(state, part);
}

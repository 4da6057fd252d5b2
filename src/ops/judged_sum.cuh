// judged_sum.cuh: how kernels end that sum a product of two vectors over the grid, p . A p or
// r . z, and what it says of conjugate gradients.
#pragma once
#include "backend/cuda_rt.h"
#include "ops/cg_state.h"

/// JUDGE(state, the sum of `part` over all threads of the grid), the sum in a fixed order. Called
/// by whole blocks, whose shared memory and writes before it are in order afterwards.
/// @param partial  work: [block]
/// @param s_warp   shared memory, one double a warp
template <void (*JUDGE)(kg_cg_state *, double)>
__device__ __forceinline__ void kg_sum_and_judge(double part, double *partial, kg_cg_state *state,
                                                 unsigned *counter, double *s_warp)
{
  const double block_sum = kg_block_sum(part, s_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = block_sum;
  if (!kg_last_block(counter)) return;
  const double sum = kg_array_sum(partial, gridDim.x, s_warp);
  if (threadIdx.x == 0) JUDGE(state, sum);
}

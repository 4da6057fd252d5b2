// product_sum.cuh: how the kernels of a product y = A x end inside conjugate gradients: x . y over the
// grid, and what it says of the iteration.
#pragma once
#include "backend/cuda_rt.h"
#include "ops/cg_state.h"

/// p_ap = the sum of `dot` over all threads of the grid, in a fixed order. Called by whole blocks,
/// whose shared memory and writes before it are in order afterwards.
/// @param partial  work: [block]
/// @param s_warp   shared memory, one double a warp
__device__ __forceinline__ void kg_finish_p_ap(double dot, double *partial, kg_cg_state *state,
                                               unsigned *counter, double *s_warp)
{
  const double block_sum = kg_block_sum(dot, s_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = block_sum;
  if (!kg_last_block(counter)) return;
  const double p_ap = kg_array_sum(partial, gridDim.x, s_warp);
  if (threadIdx.x == 0) kg_cg_judge(state, p_ap);
}

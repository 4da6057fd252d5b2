/// @file
/// r . z of a smoothing step, by all blocks of a kernel.
#pragma once
#include "backend/cuda_rt.h"
#include "ops/cg_state.h"

/// Each block leaves the sum of its threads' parts, and the last to arrive adds them in order and judges.
/// @param[in] s_warp  shared memory, one double a warp
__device__ __forceinline__ void kg_sum_rz(double part, double *partial, kg_cg_state *state,
                                          unsigned *counter, double *s_warp)
{
  const double sum = kg_block_sum(part, s_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  if (!kg_last_block(counter)) return;
  const double total = kg_array_sum(partial, gridDim.x, s_warp);
  if (threadIdx.x == 0) kg_cg_judge_preconditioner(state, total);
}

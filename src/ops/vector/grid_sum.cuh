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

/// Write kg_grid_sum() where the caller wants the total. Kernels behind this one read it.
__device__ __forceinline__ void kg_grid_sum_end(double part, const kg_sum &sum, unsigned *counter,
                                                double *s_warp)
{
  if (kg_grid_sum(&part, sum.part, counter, s_warp)) kg_sum_end(&sum, part);
}

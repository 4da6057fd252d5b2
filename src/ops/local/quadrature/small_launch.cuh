// small_launch.cuh: launches of operators that give each element a warp.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/quadrature/team.h"

namespace kg
{

enum { WARPS_BLOCK = 4 };  // of a block of several elements

/// A warp an element, whose matrix is in its registers.
template <class Operator, int BLOCKS>
__global__ void __launch_bounds__(32 * WARPS_BLOCK, BLOCKS)
    small_kernel(const __grid_constant__ typename Operator::args a, int32_t n, int scratch)
{
  KG_SHARED(double2, s_tiles);
  const int warp = threadIdx.x / 32;
  const int64_t e = (int64_t)blockIdx.x * (blockDim.x / 32) + warp;
  if (e >= n) return;
  const kg_team team = {(int)(threadIdx.x & 31), (double *)s_tiles + warp * scratch, 32, 0};
  Operator::element(a, (int32_t)e, team);
}

template <class Operator, int BLOCKS>
kedge_status run_small(kedge_context *ctx, int32_t n, const typename Operator::args &a)
{
  if (n == 0) return KEDGE_OK;
  const int count = Operator::count(&a.cells.tables), scratch = count + count % 2;
  const size_t bytes = scratch * sizeof(double), limit = (size_t)kg_cuda(ctx)->shared_limit;
  unsigned warps = WARPS_BLOCK;  // one is enough where elements take much shared memory
  while (warps > 1 && 2 * warps * bytes > limit) warps /= 2;
  return kg_launch_shared(ctx, Operator::name, ((unsigned)n + warps - 1) / warps, 32 * warps,
                          warps * bytes, small_kernel<Operator, BLOCKS>, a, n, scratch);
}

}  // namespace kg

// parallelogram_launch.cuh: launches of operators that give each element a few lanes of a warp.
#pragma once
#include "device/cuda_launch.cuh"

namespace kg
{

constexpr double PER_ROOT_2 = 0.70710678118654752440;

/// How an operator shares a GPU: lanes of an element, warps of a block, blocks of a multiprocessor.
struct lane_share {
  int lanes, warps, blocks;
};

/// Blocks that stay and take one piece, the elements of a block, after the other.
template <class Operator>
__global__ void __launch_bounds__(32 * Operator::SHARE.warps, Operator::SHARE.blocks)
    lanes_kernel(const __grid_constant__ typename Operator::args a, int pieces)
{
  KG_SHARED(double2, s_memory);
  Operator::run(a, pieces, s_memory);
}

template <class Operator>
kedge_status run_lanes(kedge_context *ctx, const char *name, int32_t n,
                       const typename Operator::args &a)
{
  static_assert(Operator::BYTES <= 98 << 10, "fits the 99 KiB of the smaller GPUs");
  const int pieces = (n + Operator::E - 1) / Operator::E;
  if (n == 0) return KEDGE_OK;
  return kg_launch_shared(ctx, name, kg_cuda_blocks(ctx, pieces, Operator::SHARE.blocks),
                          32 * Operator::SHARE.warps, Operator::BYTES, lanes_kernel<Operator>, a,
                          pieces);
}

}  // namespace kg

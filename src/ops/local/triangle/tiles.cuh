// tiles.cuh: dense algebra of small matrices by one warp, on the FP64 tensor cores (sm_80 and
// later).
//
// A matrix is cut into tiles of 8 x 8. In registers a tile is one double2 a lane: entries
// (lane / 4, 2 (lane % 4)) and the next of its row, which is how the tensor cores give a result. In
// memory it is the same by lanes: 64 doubles, row after row, one 16-byte access a lane.
//
// tile_multiply() forms c += a b^T. A result is an operand as it is, because the order in which the
// eight products of a sum are taken does not matter as long as both operands agree: the first step
// takes columns 0, 2, 4, 6 (x of the lanes), the second 1, 3, 5, 7 (y).
#pragma once
#include "device/cuda_only.cuh"

namespace kg
{

/// c += a b^T.
__device__ __forceinline__ void tile_multiply(double2 &c, double2 a, double2 b)
{
  tensor_multiply(c, a.x, b.x);
  tensor_multiply(c, a.y, b.y);
}

/// c += a b^T and d += e b^T.
__device__ __forceinline__ void tile_multiply(double2 &c, double2 &d, double2 a, double2 e,
                                              double2 b)
{
  tensor_multiply(c, d, a.x, e.x, b.x);
  tensor_multiply(c, d, a.y, e.y, b.y);
}

/// Rows of tiles are taken in pairs, always the same, because the tensor cores want pairs side by
/// side in registers; of an odd number of rows the first is alone. Where is the pair of a row?
template <int ROWS>
__device__ __forceinline__ constexpr int pair_of(int row)
{
  return (row + ROWS % 2) / 2 * 2 - ROWS % 2;
}

__device__ __forceinline__ double2 negative(double2 a)
{
  return make_double2(-a.x, -a.y);
}

/// 1 / sqrt(d) to rounding: the hardware's estimate and one step of third order. NaN for d < 0.
__device__ __forceinline__ double reciprocal_root(double d)
{
  const double y = root_estimate(d);
  const double error = fma(-d * y, y, 1.0);
  return fma(y * error, fma(0.375, error, 0.5), y);
}

}  // namespace kg

// group_product.cuh: products of a matrix that all elements share with vectors of the 32 elements
// of a group, on FP64 tensor cores.
//
// The matrix comes in tiles of 8 x 8 (basis/tiles.h), vectors lie in shared memory, [row][lane],
// rows VECTOR_STRIDE apart. A warp does a pair of tile rows for half of the elements: 16 rows by 16
// elements, in its registers as the tensor cores leave them. Of octet o, 8 elements, a lane has
// elements 8 o + 2 (lane % 4) and the next, rows lane / 4 (top) and 8 more (bottom) of the pair.
#pragma once
#include "device/cuda_rt.h"
#include "space/trace_layout.h"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

enum {
  OCTETS = 2,         ///< of a warp
  HALVES = 2,         ///< warps for all elements of a group
  VECTOR_STRIDE = 34  ///< a quarter of a warp reads rows 0, 2, 4, 6 in different banks
};

/// Tiles of n rows, and pairs of them.
constexpr int tiles_of(int n)
{
  return (n + 7) / 8;
}
constexpr int pairs_of(int n)
{
  return (tiles_of(n) + 1) / 2;
}

struct product {
  double2 top[OCTETS] = {}, bottom[OCTETS] = {};
};

/// The rows and elements that this warp computes.
struct product_place {
  int pair, half;

  __device__ __forceinline__ product_place()
      : pair((int)threadIdx.x / 32 / HALVES), half((int)threadIdx.x / 32 % HALVES)
  {
  }
  /// The lane's row, of the top tile.
  __device__ __forceinline__ int row() const
  {
    return 16 * pair + (int)threadIdx.x % 32 / 4;
  }
  /// The first of the lane's two elements of an octet.
  __device__ __forceinline__ int element(int octet) const
  {
    return 8 * (OCTETS * half + octet) + (int)threadIdx.x % 4 * 2;
  }
};

/// c += A vectors, for the tile columns first..last-1 of A: matrix 0 or 1 of two side by side, of
/// `columns` tile columns each.
__device__ __forceinline__ void multiply_tiles(const double *tiles, int columns, int matrix,
                                               int first, int last, product_place at,
                                               const double *s_vectors, product &c)
{
  const int lane = threadIdx.x % 32;
  const double2 *top = (const double2 *)tiles + (4 * at.pair * columns + matrix) * 32 + lane;
  const double2 *bottom = top + 64 * columns;
  const double *s = s_vectors + lane % 4 * 2 * VECTOR_STRIDE + 8 * OCTETS * at.half + lane / 4;
#pragma unroll 2
  for (int k = first; k < last; ++k) {
    const double2 a = __ldg(top + 64 * k), e = __ldg(bottom + 64 * k);
#pragma unroll
    for (int o = 0; o < OCTETS; ++o) {
      const double *b = s + 8 * k * VECTOR_STRIDE + 8 * o;
      tile_multiply(c.top[o], c.bottom[o], a, e, make_double2(b[0], b[VECTOR_STRIDE]));
    }
  }
}

/// Call visit(row, element, value) for all that the lane has of a product in rows < n: a value is
/// that of the element and of the next one.
template <class Visit>
__device__ __forceinline__ void for_product(product_place at, int n, const product &c, Visit visit)
{
#pragma unroll
  for (int o = 0; o < OCTETS; ++o) {
    if (at.row() < n) visit(at.row(), at.element(o), c.top[o]);
    if (at.row() + 8 < n) visit(at.row() + 8, at.element(o), c.bottom[o]);
  }
}

/// Sum over the lanes that differ in the bits FROM..TO.
template <int FROM, int TO>
__device__ __forceinline__ double sum_lanes(double value)
{
#pragma unroll
  for (int bit = FROM; bit <= TO; bit *= 2) value += __shfl_xor_sync(0xffffffffu, value, bit);
  return value;
}

/// Two elements of a row [lane].
__device__ __forceinline__ double2 &two(double *rows, int at)
{
  return *(double2 *)(rows + at);
}
__device__ __forceinline__ double2 two(const double *rows, int at)
{
  return *(const double2 *)(rows + at);
}

}  // namespace kg

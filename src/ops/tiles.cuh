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
#include <cuda_runtime.h>

namespace kg
{

/// c += a b; a 8 x 4, b 4 x 8.
__device__ __forceinline__ void tensor_multiply(double2 &c, double a, double b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c.x), "+d"(c.y)
      : "d"(a), "d"(b));
#endif
}

/// c += a b^T.
__device__ __forceinline__ void tile_multiply(double2 &c, double2 a, double2 b)
{
  tensor_multiply(c, a.x, b.x);
  tensor_multiply(c, a.y, b.y);
}

/// c += a b and d += e b: for the price of one where the tensor cores take 16 rows (sm_90).
__device__ __forceinline__ void tensor_multiply(double2 &c, double2 &d, double a, double e,
                                                double b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c.x), "+d"(c.y), "+d"(d.x), "+d"(d.y)
      : "d"(a), "d"(e), "d"(b));
#else
  tensor_multiply(c, a, b);
  tensor_multiply(d, e, b);
#endif
}

/// c += a b^T and d += e b^T.
__device__ __forceinline__ void tile_multiply(double2 &c, double2 &d, double2 a, double2 e,
                                              double2 b)
{
  tensor_multiply(c, d, a.x, e.x, b.x);
  tensor_multiply(c, d, a.y, e.y, b.y);
}

/// c[r] += a[r] b^T, two rows at a time.
template <int ROWS>
__device__ __forceinline__ void tiles_multiply(double2 (&c)[ROWS], const double2 (&a)[ROWS],
                                               double2 b)
{
#pragma unroll
  for (int r = 0; r + 1 < ROWS; r += 2) tile_multiply(c[r], c[r + 1], a[r], a[r + 1], b);
  if (ROWS % 2 == 1) tile_multiply(c[ROWS - 1], a[ROWS - 1], b);
}

__device__ __forceinline__ double2 negative(double2 a)
{
  return make_double2(-a.x, -a.y);
}

/// 1 / sqrt(d) to rounding: the hardware's estimate and one step of third order. NaN for d < 0.
__device__ __forceinline__ double reciprocal_root(double d)
{
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  const double error = fma(-d * y, y, 1.0);
  return fma(y * error, fma(0.375, error, 0.5), y);
}

/// Cholesky factors of symmetric positive definite matrices of NT x NT tiles, A = L L^T, E for each
/// of the WARPS of a block, in shared memory. factor() leaves tile (i, j) of L below the diagonal
/// and the *inverse* of L_jj on it, so that whoever solves with L multiplies only:
///
///   X^T = B^T L^-T, tile column j after the other:   C_j = B_j - sum_{k < j} X_k L_jk^T
///                                                    X_j = C_j (L_jj^-1)^T
///
/// More than one matrix a warp, so that what they share is read once and that the inversions of
/// diagonal tiles, one thread each, take place side by side in one warp.
template <int NT, int E, int WARPS>
struct tile_cholesky {
  static_assert(E * WARPS <= 32, "one warp inverts the diagonal tiles of the block");
  static constexpr int TILES = NT * (NT + 1) / 2;  ///< of one matrix
  /// Doubles from matrix to matrix: lanes of different matrices, different banks.
  static constexpr int STRIDE = 64 * TILES + 16 / E % 16;
  static constexpr int DOUBLES = E * WARPS * STRIDE;

  double *memory;  ///< [warp][matrix][tile (i, j) at i (i+1) / 2 + j][64], on 16 bytes

  static __device__ __forceinline__ int tile(int i, int j)
  {
    return 64 * (i * (i + 1) / 2 + j);
  }

  /// Matrix e of this warp.
  __device__ __forceinline__ double *matrix(int e) const
  {
    return memory + (threadIdx.x / 32 * E + e) * STRIDE;
  }

  /// The lane's part of a tile.
  __device__ __forceinline__ double2 &at(int e, int i, int j) const
  {
    return ((double2 *)(matrix(e) + tile(i, j)))[threadIdx.x & 31];
  }

  /// @param[in] build  build(i, j, c): tile (i, j), j <= i, of all matrices into double2 c[E]; rows
  ///                   and columns beyond the matrix are those of the identity
  template <class Build>
  __device__ __forceinline__ void factor(Build build) const
  {
#pragma unroll 1
    for (int j = 0; j < NT; ++j) {
#pragma unroll 1
      for (int i = j; i < NT; i += 2) reduce(i, j, build);
      barrier();
      if (threadIdx.x / 32 == j % WARPS && threadIdx.x % 32 < E * WARPS)
        invert(memory + threadIdx.x % 32 * STRIDE + tile(j, j));
      barrier();
#pragma unroll 1
      for (int i = j + 1; i < NT; i += 2) divide(i, j);
    }
  }

  /// Tiles (i, j) and (i + 1, j) of A less the products of the columns before j. Lanes read what they
  /// have written: nobody waits.
  template <class Build>
  __device__ __forceinline__ void reduce(int i, int j, Build build) const
  {
    const bool pair = i + 1 < NT;
    double2 c[E], d[E];
    build(i, j, c);
    if (pair) build(i + 1, j, d);
#pragma unroll 1
    for (int k = 0; k < j; ++k)
#pragma unroll
      for (int e = 0; e < E; ++e)
        tile_multiply(c[e], d[e], at(e, i, k), at(e, pair ? i + 1 : i, k), negative(at(e, j, k)));
#pragma unroll
    for (int e = 0; e < E; ++e) {
      at(e, i, j) = c[e];
      if (pair) at(e, i + 1, j) = d[e];
    }
  }

  /// Tiles (i, j) and (i + 1, j) times L_jj^-T.
  __device__ __forceinline__ void divide(int i, int j) const
  {
    const bool pair = i + 1 < NT;
    double2 c[E] = {}, d[E] = {};
#pragma unroll
    for (int e = 0; e < E; ++e)
      tile_multiply(c[e], d[e], at(e, i, j), at(e, pair ? i + 1 : i, j), at(e, j, j));
#pragma unroll
    for (int e = 0; e < E; ++e) {
      at(e, i, j) = c[e];
      if (pair) at(e, i + 1, j) = d[e];
    }
  }

  static __device__ __forceinline__ void barrier()
  {
    if (WARPS == 1)
      __syncwarp();
    else
      __syncthreads();
  }

  /// The lower triangle of a tile becomes the inverse of its Cholesky factor, the upper one zero, by
  /// one thread.
  static __device__ __forceinline__ void invert(double *t)
  {
    double a[8][8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j <= i; j += 2) {
        const double2 pair = *(const double2 *)(t + 8 * i + j);
        a[i][j] = pair.x;
        if (j < i) a[i][j + 1] = pair.y;
      }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      a[k][k] = reciprocal_root(a[k][k]);
#pragma unroll
      for (int i = k + 1; i < 8; ++i) a[i][k] *= a[k][k];
#pragma unroll
      for (int i = k + 1; i < 8; ++i)
#pragma unroll
        for (int j = k + 1; j <= i; ++j) a[i][j] -= a[i][k] * a[j][k];
    }
    // Row i of the inverse from row i of L and the rows of the inverse above it.
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      double row[8] = {};
#pragma unroll
      for (int k = 0; k < i; ++k)
#pragma unroll
        for (int j = 0; j <= k; ++j) row[j] -= a[i][k] * a[k][j];
#pragma unroll
      for (int j = 0; j < i; ++j) a[i][j] = row[j] * a[i][i];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; j += 2)
        *(double2 *)(t + 8 * i + j) =
            make_double2(j <= i ? a[i][j] : 0.0, j + 1 <= i ? a[i][j + 1] : 0.0);
  }
};

}  // namespace kg

// tile_inverse.cuh: inverses of the Cholesky factors of 8 x 8 tiles, within a larger elimination:
// by a warp, in registers, which waits for nobody; or by a thread, in memory, which takes fewest
// instructions where several tiles are ready at a time.
#pragma once
#include <limits.h>

#include "ops/local/triangle/tiles.cuh"

namespace kg
{

/// -a by the integer units: the compiler would add.
__device__ __forceinline__ double flipped(double a)
{
  return __hiloint2double(__double2hiint(a) ^ INT_MIN, __double2loint(a));
}

/// -1 / sqrt(-d) to rounding, as reciprocal_root() of tiles.cuh. NaN for d > 0.
__device__ __forceinline__ double reciprocal_root_of_negative(double d)
{
  const double y = root_estimate(flipped(d));
  const double error = fma(d * y, y, 1.0);
  return fma(-y * error, fma(0.375, error, 0.5), -y);
}

__device__ __forceinline__ double from_lane(double value, int lane, int segment)
{
  return __shfl_sync(0xffffffffu, value, lane, segment);
}

/// Tiles of E matrices, of each of which the warp has all rows, become those of a warp whose E
/// segments have a matrix each: slot q of a lane of segment e has row q (8 / E) + lane / 4 %
/// (8 / E) of matrix e. The same once more takes them back.
template <int E>
__device__ __forceinline__ void exchange_rows(double2 (&t)[E])
{
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int slots = E / 2, lanes = 16; slots > 0; slots /= 2, lanes /= 2)
#pragma unroll
    for (int q = 0; q < E; ++q) {
      if (q & slots) continue;
      const bool upper = lane & lanes;
      const double2 give = upper ? t[q] : t[q + slots];
      const double2 got = make_double2(__shfl_xor_sync(0xffffffffu, give.x, lanes),
                                       __shfl_xor_sync(0xffffffffu, give.y, lanes));
      if (upper)
        t[q] = got;
      else
        t[q + slots] = got;
    }
}

/// Gauss-Jordan elimination below the diagonal, in place, of the matrices whose slots these are
/// (see above): column k below its pivot becomes that of M, where M A is upper triangular and M has
/// a diagonal of ones. Pivots stay on the diagonal.
template <int PIVOTS, int E>
__device__ __forceinline__ void eliminate_rows(double2 (&t)[E])
{
  constexpr int ROWS = 8 / E, SEGMENT = 4 * ROWS;
  const int lane = threadIdx.x & 31, row = lane / 4 % ROWS, pair = lane % 4;
#pragma unroll
  for (int k = 0; k < PIVOTS && k < 7; ++k) {
    const double2 mine = t[k / ROWS];
    const int from = 4 * (k % ROWS);
    const double d = from_lane(k % 2 ? mine.y : mine.x, from + k / 2, SEGMENT);
    const double2 across = make_double2(from_lane(mine.x, from + pair, SEGMENT),
                                        from_lane(mine.y, from + pair, SEGMENT));
    const double y = reciprocal_estimate(d);  // to be multiplied by 1 + correction
    const double error = fma(-d, y, 1.0), correction = fma(error, error, error);
#pragma unroll
    for (int q = k / ROWS; q < E; ++q) {
      if ((q + 1) * ROWS - 1 <= k) continue;
      const double down = from_lane(k % 2 ? t[q].y : t[q].x, 4 * row + k / 2, SEGMENT);
      const bool below = q * ROWS + row > k;
      const double rough = below ? down * y : 0.0, factor = fma(rough, correction, rough);
      t[q].x = fma(-factor, across.x, t[q].x);
      t[q].y = fma(-factor, across.y, t[q].y);
      if (below && pair == k / 2) (k % 2 ? t[q].y : t[q].x) = flipped(factor);
    }
  }
}

/// Negative tiles -A_e, A_e = L L^T positive definite, become -L^-1. If only PIVOTS rows and
/// columns are to be eliminated, the others become those of -[L 0; W^T I]^-1 with W^T what L^-T
/// makes of the rows below.
template <int PIVOTS, int E>
__device__ __forceinline__ void invert_factors(double2 (&t)[E])
{
  exchange_rows<E>(t);
  eliminate_rows<PIVOTS, E>(t);
  exchange_rows<E>(t);
  const int lane = threadIdx.x & 31, row = lane / 4, col = lane % 4 * 2;
#pragma unroll
  for (int e = 0; e < E; ++e) {
    const double d = from_lane(row % 2 ? t[e].y : t[e].x, 4 * row + row / 2, 32);
    const double scale = row < PIVOTS ? reciprocal_root_of_negative(d) : -1.0;
    const int end = row < PIVOTS ? row : PIVOTS;  // of the columns left of the diagonal
    t[e].x = scale * (col == row ? 1.0 : col < end ? t[e].x : 0.0);
    t[e].y = scale * (col + 1 == row ? 1.0 : col + 1 < end ? t[e].y : 0.0);
  }
}

/// One thread inverts a tile in memory: a negative tile -A in memory, A = L L^T positive definite,
/// becomes -L^-1. If only PIVOTS rows and columns are to be eliminated, the lower left becomes that
/// of -[L 0; W^T I]^-1 with W^T what L^-T makes of the rows below.
/// @param[in,out] t  [row][pair of columns]; what is above the diagonal counts for nothing
template <int PIVOTS>
__device__ __forceinline__ void invert_factor(double2 *t)
{
  double a[8][8], y[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j <= i; j += 2) {
      const double2 pair = t[4 * i + j / 2];
      a[i][j] = pair.x;
      if (j < i) a[i][j + 1] = pair.y;
    }
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    if (k >= PIVOTS) {
      y[k] = -1.0;
      continue;
    }
    y[k] = reciprocal_root_of_negative(a[k][k]);
#pragma unroll
    for (int i = k + 1; i < 8; ++i) a[i][k] *= y[k];  // L
#pragma unroll
    for (int i = k + 1; i < 8; ++i)
#pragma unroll
      for (int j = k + 1; j <= i; ++j)
        if (j < PIVOTS) a[i][j] += a[i][k] * a[j][k];
  }
  // Row i of the negative inverse from row i of L and the rows above it.
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    double row[8] = {};
#pragma unroll
    for (int k = 0; k < i && k < PIVOTS; ++k)
#pragma unroll
      for (int j = 0; j <= k; ++j) row[j] += a[i][k] * a[k][j];
#pragma unroll
    for (int j = 0; j < i; ++j) a[i][j] = row[j] * y[i];
    a[i][i] = y[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; j += 2)
      t[4 * i + j / 2] = make_double2(j <= i ? a[i][j] : 0.0, j + 1 <= i ? a[i][j + 1] : 0.0);
}

}  // namespace kg

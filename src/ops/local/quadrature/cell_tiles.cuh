// cell_tiles.cuh: sums over points for one element by a team of warps, on the FP64 tensor cores
// (ops/local/triangle/tiles.cuh); cell_elimination.cuh eliminates.
//
// The matrix of an element is cut into tiles of 8 x 8. Those of its lower triangle lie in shared
// memory, *negative*, because the tensor cores add: tile (i, j), j <= i, is number i (i + 1) / 2 +
// j. Eight rows are a strip; rows behind the last of a kind of unknowns are zero, with one on the
// diagonal. A warp has blocks of 4 x 4 tiles in registers while it sums; the tables of a shape
// (basis/cell_tiles.h) bring an operand in one access of 16 bytes a lane.
//
// In shared memory the double2 of a lane lies at another lane's place, within 128 bytes, such that
// a warp reads a tile and the transpose of a tile without waiting for a bank.
#pragma once
#include "ops/local/quadrature/geometry.h"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

enum { BLOCK_STRIPS = 4, TILE_LANES = 32 };  // of a block of tiles; double2 of a tile

/// Where the double2 of a lane lies in a tile in shared memory.
__device__ __forceinline__ int place_of_lane(int lane)
{
  return lane ^ lane / 8 * 2;
}

/// The tiles of an element.
struct cell_matrix {
  double2 *tiles;

  __device__ __forceinline__ double2 *tile(int i, int j) const
  {
    return tiles + (i * (i + 1) / 2 + j) * TILE_LANES;
  }
  __device__ __forceinline__ double2 &at(int i, int j) const
  {
    return tile(i, j)[place_of_lane(threadIdx.x % 32)];
  }
  /// What a lane has of the transpose of a tile.
  __device__ __forceinline__ double2 transpose_at(int i, int j) const
  {
    const int lane = threadIdx.x % 32, first = lane % 4 * 8 + lane / 8, half = lane / 4 % 2;
    const double *const from = (const double *)tile(i, j) + half;
    return make_double2(from[2 * place_of_lane(first)], from[2 * place_of_lane(first + 4)]);
  }
};

/// Doubles of the tiles of so many strips.
__host__ __device__ constexpr int cell_matrix_count(int strips)
{
  return strips * (strips + 1) / 2 * KG_TILE_ENTRIES;
}

/// sum_q w_q a_q^T G_q b_q of two components.
struct gradient_sum {
  const double *table;  ///< [points / 4] pairs
  int strips, points;
  const double *g;  ///< [point][3]: weight times G, in shared memory

  __device__ __forceinline__ int steps() const
  {
    return (points + 3) / 4;
  }
  __device__ __forceinline__ double3 weights(int step) const
  {
    const int q = 4 * step + threadIdx.x % 4, last = points - 1;
    const double *const at = g + 3 * (q < last ? q : last);  // the table is zero behind the last
    return make_double3(at[0], at[1], at[2]);
  }
  /// Number k of the same.
  __device__ __forceinline__ double weight(int step, int k) const
  {
    const int q = 4 * step + threadIdx.x % 4, last = points - 1;
    return g[3 * (q < last ? q : last) + k];
  }
  static __device__ __forceinline__ double2 times(double3 w, double2 a)
  {
    return make_double2(w.x * a.x + w.y * a.y, w.y * a.x + w.z * a.y);
  }
};

/// sum_q w_q a_q b_q.
struct value_sum {
  const double *table;  ///< [points / 8] pairs
  int strips, points;
  const double *w;  ///< [point], in shared memory

  __device__ __forceinline__ int steps() const
  {
    return (points + 7) / 8;
  }
  __device__ __forceinline__ double2 weights(int step) const
  {
    const int q = 8 * step + threadIdx.x % 4 * 2, last = points - 1;
    return make_double2(w[q < last ? q : last], w[q + 1 < last ? q + 1 : last]);
  }
  static __device__ __forceinline__ double2 times(double2 w, double2 a)
  {
    return make_double2(w.x * a.x, w.y * a.y);
  }
};

/// Strips 2 k and 2 k + 1 in a tile of columns: even columns of both, then odd ones.
struct strip_pair {
  double2 even, odd;

  __device__ __forceinline__ double2 strip(int k) const
  {
    return k % 2 ? make_double2(even.y, odd.y) : make_double2(even.x, odd.x);
  }
};

__device__ __forceinline__ strip_pair load_pair(const double2 *from)
{
  return {__ldg(from), __ldg(from + TILE_LANES)};
}

/// c += a b^T, d += e b^T with a pair (a, e): for the price of one on sm_90.
__device__ __forceinline__ void pair_multiply(double2 &c, double2 &d, const strip_pair &a,
                                              double2 b)
{
  tensor_multiply(c, d, a.even.x, a.even.y, b.x);
  tensor_multiply(c, d, a.odd.x, a.odd.y, b.y);
}

/// A block of tiles: rows row, row + 1, ... before row_end, columns alike, four of each at most.
struct tile_block {
  int row, row_end, col, col_end;

  __device__ __forceinline__ bool has(int i, int j) const
  {
    return row + i < row_end && col + j < col_end && col + j <= row + i;
  }
};

/// c += the sum, where its table has the strips of the block: PART of them, or all. Tiles that the
/// block does not have get sums that nobody reads, which costs less than asking.
template <bool DIAGONAL, bool PART, class Sum>
__device__ __forceinline__ void add_sum(const Sum &sum, tile_block b, double2 (&c)[4][4])
{
  if (b.row >= sum.strips || b.col >= sum.strips) return;
  const int pairs = (sum.strips + 1) / 2, steps = sum.steps();
  const double2 *from = (const double2 *)sum.table + threadIdx.x % 32;
  const double2 *row[2], *col[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    row[i] = from + min(b.row / 2 + i, pairs - 1) * 2 * TILE_LANES;
    col[i] = from + min(b.col / 2 + i, pairs - 1) * 2 * TILE_LANES;
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int at = step * pairs * 2 * TILE_LANES;
    strip_pair down[2], across[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const strip_pair zero = {make_double2(0.0, 0.0), make_double2(0.0, 0.0)};
      down[i] = PART && b.row / 2 + i >= pairs ? zero : load_pair(row[i] + at);
      if (!DIAGONAL) across[i] = PART && b.col / 2 + i >= pairs ? zero : load_pair(col[i] + at);
    }
    const auto w = sum.weights(step);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double2 right = Sum::times(w, (DIAGONAL ? down : across)[j / 2].strip(j));
      if (DIAGONAL && j % 2) tile_multiply(c[j][j], down[j / 2].strip(j), right);
#pragma unroll
      for (int i = DIAGONAL ? (j + 1) / 2 * 2 : 0; i < 4; i += 2)
        pair_multiply(c[i][j], c[i + 1][j], down[i / 2], right);
    }
  }
}

/// c += the sum, for a block on the diagonal or below.
template <bool PART, class Sum>
__device__ __forceinline__ void add_any_sum(const Sum &sum, tile_block b, double2 (&c)[4][4])
{
  if (b.row == b.col)
    add_sum<true, PART>(sum, b, c);
  else
    add_sum<false, PART>(sum, b, c);
}

/// Set the tiles of a block to `entry(i, j, sum)` of the sums c.
template <class Entry>
__device__ __forceinline__ void put_block(const cell_matrix &a, tile_block b,
                                          const double2 (&c)[4][4], const Entry &entry)
{
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (b.has(i, j)) a.at(b.row + i, b.col + j) = entry(b.row + i, b.col + j, c[i][j]);
}

/// Set them to the sums, then call what(i, j, tile) for each, in a loop that leaves registers for
/// the sums.
template <class What>
__device__ __forceinline__ void with_block(const cell_matrix &a, tile_block b,
                                           const double2 (&c)[4][4], const What &what)
{
  put_block(a, b, c, [](int, int, double2 sum) { return sum; });
#pragma unroll 1
  for (int i = b.row; i < b.row_end; ++i)
#pragma unroll 1
    for (int j = b.col; j < b.col_end && j <= i; ++j) what(i, j, a.at(i, j));
}

/// -t with -1 on the diagonal in rows and columns from n on: of a tile whose first row is `first`
/// in the matrix of n rows.
__device__ __forceinline__ double2 negative_padded(double2 t, int first, int n)
{
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  double2 out = negative(t);
  if (first + row >= n) {
    if (col == row) out.x = -1.0;
    if (col + 1 == row) out.y = -1.0;
  }
  return out;
}

/// Call what(block) for the blocks of the lower triangle of so many strips, those of the calling
/// warp: warps of a team take turns.
template <class What>
__device__ __forceinline__ void for_blocks(int strips, kg_team team, const What &what)
{
  const int warp = team.thread / 32, warps = team.threads / 32;
  int turn = 0;
#pragma unroll 1
  for (int i = 0; i < strips; i += BLOCK_STRIPS)
#pragma unroll 1
    for (int j = 0; j <= i; j += BLOCK_STRIPS, ++turn) {
      if (turn % warps != warp) continue;
      what(tile_block{i, min(i + BLOCK_STRIPS, strips), j, min(j + BLOCK_STRIPS, strips)});
    }
}

/// How many these are.
constexpr int block_count(int strips)
{
  return (strips + BLOCK_STRIPS - 1) / BLOCK_STRIPS *
         ((strips + 2 * BLOCK_STRIPS - 1) / BLOCK_STRIPS) / 2;
}

__device__ __forceinline__ void clear_block(double2 (&c)[4][4])
{
#pragma unroll
  for (int i = 0; i < 16; ++i) c[i / 4][i % 4] = make_double2(0.0, 0.0);
}

template <int COUNT>
__device__ __forceinline__ void add_to(double2 (&c)[COUNT], const double2 (&other)[COUNT])
{
#pragma unroll
  for (int i = 0; i < COUNT; ++i) c[i] = make_double2(c[i].x + other[i].x, c[i].y + other[i].y);
}

}  // namespace kg

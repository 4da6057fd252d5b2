// cell_tiles.cuh: sums over points and their elimination, for one element by a team of warps, on
// the FP64 tensor cores (ops/local/triangle/tiles.cuh).
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
#include "ops/local/triangle/tile_inverse.cuh"

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

/// Set the tiles of a block to `entry(i, j, sum)` of the sums c. In two loops, the second short:
/// registers are left for the sums.
template <class Entry>
__device__ __forceinline__ void put_block(const cell_matrix &a, tile_block b,
                                          const double2 (&c)[4][4], const Entry &entry)
{
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (b.has(i, j)) a.at(b.row + i, b.col + j) = c[i][j];
#pragma unroll 1
  for (int i = b.row; i < b.row_end; ++i)
#pragma unroll 1
    for (int j = b.col; j < b.col_end && j <= i; ++j) a.at(i, j) = entry(i, j, a.at(i, j));
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

/// The tiles of column 0 in rows i, i + 1, ..., behind the last strip those of row i again.
template <int ROWS>
struct tile_rows {
  const double2 *row[ROWS];

  __device__ __forceinline__ tile_rows(const cell_matrix &a, int i, int strips)
  {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) row[r] = &a.at(i + r < strips ? i + r : i, 0);
  }
  /// c[r] += the sum over the columns before j of the products with row j.
  __device__ __forceinline__ void gather(const double2 *across, int j, double2 (&c)[ROWS]) const
  {
    double2 odd[ROWS] = {};
#pragma unroll 2
    for (int k = 0; k < j; ++k) multiply(k, across[k * TILE_LANES], c, odd);
    add_to<ROWS>(c, odd);
  }
  /// c[r] + odd[r] += the product of tile k of row r and a transpose. Two sums wait half as long
  /// for the tensor cores as one.
  __device__ __forceinline__ void multiply(int k, double2 right, double2 (&c)[ROWS],
                                           double2 (&odd)[ROWS]) const
  {
#pragma unroll
    for (int r = 0; r + 1 < ROWS; r += 2) {
      const double2 left = row[r][k * TILE_LANES], next = row[r + 1][k * TILE_LANES];
      tensor_multiply(c[r], c[r + 1], left.x, next.x, right.x);
      tensor_multiply(odd[r], odd[r + 1], left.y, next.y, right.y);
    }
    if (ROWS % 2) {
      const double2 left = row[ROWS - 1][k * TILE_LANES];
      tensor_multiply(c[ROWS - 1], left.x, right.x);
      tensor_multiply(odd[ROWS - 1], left.y, right.y);
    }
  }
  __device__ __forceinline__ void load(int j, double2 (&c)[ROWS]) const
  {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) c[r] = row[r][j * TILE_LANES];
  }
};

/// What columns begin to end leave of row j + 1 in columns j and j + 1, which are `left`.
__device__ __forceinline__ void take_columns(const cell_matrix &a, int j, int begin, int end,
                                             double2 (&left)[2])
{
  const double2 *const across = &a.at(j, 0), *const row = &a.at(j + 1, 0);
  double2 odd[2] = {};
#pragma unroll 2
  for (int k = begin; k < end; ++k) {
    const double2 down = row[k * TILE_LANES], right = across[k * TILE_LANES];
    tensor_multiply(left[0], down.x, right.x);
    tensor_multiply(odd[0], down.y, right.y);
    tensor_multiply(left[1], down.x, down.x);
    tensor_multiply(odd[1], down.y, down.y);
  }
  add_to<2>(left, odd);
}

/// The same for the columns before the last, j - 1: ahead of eliminate_next(), which has to wait
/// for that one.
__device__ __forceinline__ void eliminate_ahead(const cell_matrix &a, int j)
{
  double2 left[2] = {a.at(j + 1, j), a.at(j + 1, j + 1)};
  take_columns(a, j, 0, j - 1, left);
  a.at(j + 1, j) = left[0];
  a.at(j + 1, j + 1) = left[1];
}

/// Row j + 1 of column j of the Cholesky factor, and -L^-1 of the next tile on the diagonal, which
/// needs nothing but this row.
__device__ __forceinline__ void eliminate_next(const cell_matrix &a, int j)
{
  double2 left[2] = {a.at(j + 1, j), a.at(j + 1, j + 1)}, w = make_double2(0.0, 0.0);
  take_columns(a, j, j > 0 ? j - 1 : 0, j, left);
  tile_multiply(w, left[0], a.at(j, j));
  double2 d[1] = {left[1]};
  tile_multiply(d[0], w, w);
  invert_factors<8, 1>(d);
  a.at(j + 1, j) = w;
  a.at(j + 1, j + 1) = d[0];
}

/// The first `pivots` of the strips become columns of the Cholesky factor: W = A L_jj^-T below,
/// -L_jj^-1 on the diagonal. The team may read them afterwards; waits before.
template <int ROWS>
__device__ void eliminate(const cell_matrix &a, int pivots, int strips, kg_team team)
{
  const int warp = team.thread / 32, warps = team.threads / 32;
  kg_team_wait(team);
  if (warp == 0) {
    double2 d[1] = {a.at(0, 0)};
    invert_factors<8, 1>(d);
    a.at(0, 0) = d[0];
  }
  kg_team_wait(team);
#pragma unroll 1
  for (int j = 0; j < pivots; ++j) {
    // The first warp prepares the next column. If there are others, they do the rest. The last
    // begins with the column after the next if it has no rows, else the first does.
    const bool next = j + 1 < pivots, apart = next && warps > 1;
    const int worker = apart ? warp - 1 : warp, workers = apart ? warps - 1 : warps;
    const int first = j + 1 + next, ahead = first + (workers - 1) * ROWS < strips ? 0 : warps - 1;
    const double2 *const across = &a.at(j, 0);
    if (next && warp == 0) eliminate_next(a, j);
    if (j > 0 && j + 2 < pivots && warp == ahead) eliminate_ahead(a, j + 1);
#pragma unroll 1
    for (int i = first + worker * ROWS; worker >= 0 && i < strips; i += workers * ROWS) {
      double2 c[ROWS];
      const tile_rows<ROWS> rows(a, i, strips);
      rows.load(j, c);
      rows.gather(across, j, c);
      const double2 inverse = across[j * TILE_LANES];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        double2 w = make_double2(0.0, 0.0);
        tile_multiply(w, c[r], inverse);
        if (i + r < strips) a.at(i + r, j) = w;
      }
    }
    kg_team_wait(team);
  }
}

/// The sum over the rows of a tile, in the lanes of all rows: of both columns of a lane.
__device__ __forceinline__ double2 sum_of_rows(double2 v)
{
#pragma unroll
  for (int offset = 4; offset < 32; offset *= 2) {
    v.x += __shfl_xor_sync(0xffffffffu, v.x, offset);
    v.y += __shfl_xor_sync(0xffffffffu, v.y, offset);
  }
  return v;
}

/// The value in column `row` of what sum_of_rows() leaves.
__device__ __forceinline__ double value_of_row(double2 sum, int row)
{
  const double even = __shfl_sync(0xffffffffu, sum.x, row / 2);
  const double odd = __shfl_sync(0xffffffffu, sum.y, row / 2);
  return row % 2 ? odd : even;
}

/// The unknowns of one right hand side, which is the first row of the strip behind the pivots
/// before elimination: x [8 pivots]. By one warp.
__device__ __forceinline__ void substitute_back(const cell_matrix &a, int pivots, double *x)
{
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
#pragma unroll 1
  for (int j = pivots - 1; j >= 0; --j) {
    // Row 0 of the strip of the right hand side lies in the lanes of row 0.
    double2 sum = row == 0 ? negative(a.at(pivots, j)) : make_double2(0.0, 0.0);
#pragma unroll 1
    for (int i = j + 1; i < pivots; ++i) {
      const double2 w = a.at(i, j);
      sum = make_double2(fma(w.x, -x[8 * i + row], sum.x), fma(w.y, -x[8 * i + row], sum.y));
    }
    const double v = value_of_row(sum_of_rows(sum), row);
    const double2 inverse = a.at(j, j);
    const double2 out = sum_of_rows(make_double2(-inverse.x * v, -inverse.y * v));
    if (row == 0) {
      x[8 * j + col] = out.x;
      x[8 * j + col + 1] = out.y;
    }
    __syncwarp();
  }
}

}  // namespace kg

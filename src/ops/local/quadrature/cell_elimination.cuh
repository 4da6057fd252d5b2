// cell_elimination.cuh: Cholesky elimination of the tiles of cell_tiles.cuh by a team of warps, and
// substitution.
#pragma once
#include "ops/local/quadrature/cell_tiles.cuh"
#include "ops/local/triangle/tile_inverse.cuh"

namespace kg
{

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

/// Take the columns before j - 1 from row j + 1. eliminate_next() takes the last, for which it has
/// to wait.
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

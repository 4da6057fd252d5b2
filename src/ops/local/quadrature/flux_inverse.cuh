// flux_inverse.cuh: the flux of material.exact by tiles: M = sum_q w_q Phi^T G^-1 Phi = L L^T, of
// which shared memory keeps Y = -L^-1, so that M^-1 = Y^T Y. With B the weak gradient of modes and
// trace, their matrix gets (B^T Y^T) (B^T Y^T)^T, strip by strip of the flux functions; vectors are
// multiplied by Y, then by Y^T.
#pragma once
#include "ops/local/quadrature/cell_elimination.cuh"

namespace kg
{

/// The sums over k, j < k <= i + r, of the products of tiles k of rows i + r and of the transposes
/// of column j. Rows up to j get sums that nobody reads.
template <int ROWS>
__device__ __forceinline__ void sum_rows(const cell_matrix &a, int i, int j, int strips,
                                         double2 (&c)[ROWS])
{
  const tile_rows<ROWS> rows(a, i, strips);
  double2 odd[ROWS] = {};
#pragma unroll
  for (int r = 0; r < ROWS; ++r) c[r] = make_double2(0.0, 0.0);
#pragma unroll 2
  for (int k = j + 1; k <= i; ++k) rows.multiply(k, a.transpose_at(k, j), c, odd);
  add_to<ROWS>(c, odd);
#pragma unroll
  for (int k = 1; k < ROWS; ++k) {
    if (i + k <= j || i + k >= strips) continue;
    const double2 right = a.transpose_at(i + k, j);
#pragma unroll
    for (int r = k; r < ROWS; ++r)
      if (i + r < strips) tile_multiply(c[r], rows.row[r][(i + k) * TILE_LANES], right);
  }
}

/// -L^-1 from the tiles -M, which the team may read afterwards; waits before. Column by column from
/// the last on, in each of which the lower rows come first, as they read what the upper rows
/// overwrite. Otherwise a row reads nothing but itself, and a warp has its rows for all columns.
template <int ROWS>
__device__ void invert_flux(const cell_matrix &a, int strips, kg_team team)
{
  const int stride = team.threads / 32 * ROWS, own = team.thread / 32 * ROWS;
  eliminate<ROWS>(a, strips, strips, team);
#pragma unroll 1
  for (int j = strips - 2; j >= 0; --j) {
    const double2 inverse = a.transpose_at(j, j);
#pragma unroll 1
    for (int round = (strips - 1) / stride * stride; round + stride > j + 1; round -= stride) {
      const int i = round + own;
      const bool has = i < strips && i + ROWS > j + 1;
      double2 c[ROWS];
      if (has) sum_rows<ROWS>(a, i, j, strips, c);
      kg_team_wait(team);
      if (!has) continue;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        double2 y = make_double2(0.0, 0.0);
        tile_multiply(y, c[r], inverse);
        if (i + r > j && i + r < strips) a.at(i + r, j) = y;
      }
    }
  }
  kg_team_wait(team);
}

/// c += the sum of a block whose rows are flux functions along direction `down` and whose columns
/// along `across`: half of what gradient_sum multiplies there is zero.
__device__ __forceinline__ void add_directions(const gradient_sum &sum, int down, int across,
                                               tile_block b, double2 (&c)[4][4])
{
  const int pairs = (sum.strips + 1) / 2, steps = sum.steps();
  const double2 *from = (const double2 *)sum.table + threadIdx.x % 32;
  const double2 *row[2], *col[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    row[i] = from + (min(b.row / 2 + i, pairs - 1) * 2 + down) * TILE_LANES;
    col[i] = from + (min(b.col / 2 + i, pairs - 1) * 2 + across) * TILE_LANES;
  }
#pragma unroll 2
  for (int step = 0; step < steps; ++step) {
    const int at = step * pairs * 2 * TILE_LANES;
    const double2 left[2] = {__ldg(row[0] + at), __ldg(row[1] + at)};
    const double2 right[2] = {__ldg(col[0] + at), __ldg(col[1] + at)};
    const double w = sum.weight(step, down + across);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double of_column = w * (j % 2 ? right[j / 2].y : right[j / 2].x);
#pragma unroll
      for (int i = 0; i < 4; i += 2)
        tensor_multiply(c[i][j], c[i + 1][j], left[i / 2].x, left[i / 2].y, of_column);
    }
  }
}

/// The direction of all flux functions of strips begin to end; -1: they have both.
__device__ __forceinline__ int direction_of(const kg_cell_tables *t, int begin, int end)
{
  const int half = t->size.n_flux / 2;
  return 8 * end <= half ? 0 : 8 * begin >= half ? 1 : -1;
}

/// Y of an element whose weights of points are w G^-1. The team may read it afterwards.
template <int ROWS>
__device__ void put_flux_inverse(const kg_cell_tables *t, const double *weights,
                                 const cell_matrix &y, kg_team team)
{
  const int strips = t->tiles.flux;
  const gradient_sum mass = {t->tiles.fluxes, strips, t->points.n, weights};
  for_blocks(strips, team, [&](tile_block b) {
    const int down = direction_of(t, b.row, b.row_end), across = direction_of(t, b.col, b.col_end);
    double2 c[4][4] = {};
    if (down >= 0 && across >= 0)
      add_directions(mass, down, across, b, c);
    else
      add_any_sum<false>(mass, b, c);
    const auto entry = [&](int i, int j, double2 sum) {
      return i == j ? negative_padded(sum, 8 * i, t->size.n_flux) : negative(sum);
    };
    if (ROWS == 2)  // the kernel of several warps is short of registers
      with_block(y, b, c, [&](int i, int j, double2 &tile) { tile = entry(i, j, tile); });
    else
      put_block(y, b, c, entry);
  });
  invert_flux<ROWS>(y, strips, team);
}

/// A row, of which tile j has eight numbers, as row 0 of tiles.
__device__ __forceinline__ double2 tile_of_row(const double *row, int j)
{
  const int lane = threadIdx.x % 32, at = 8 * j + lane * 2;
  return lane < 4 ? make_double2(row[at], row[at + 1]) : make_double2(0.0, 0.0);
}

/// B^T of a pair of strips in column tile j.
__device__ __forceinline__ strip_pair load_weak(const kg_cell_tiles *tiles, int pair, int j)
{
  const int pairs = (tiles->modes + tiles->traces + 1) / 2;
  return load_pair((const double2 *)tiles->weak + threadIdx.x % 32 +
                   (j * pairs + pair) * 2 * TILE_LANES);
}

/// c += left right^T of strips, in the tiles of a block: of strip i tile `from + i`.
__device__ __forceinline__ void add_strips(const double2 *from, tile_block b, double2 (&c)[4][4])
{
  double2 left[4], right[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    left[i] = from[min(b.row + i, b.row_end - 1) * TILE_LANES];
    right[i] = from[min(b.col + i, b.col_end - 1) * TILE_LANES];
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; i += 2)
      tile_multiply(c[i][j], c[i + 1][j], left[i], left[i + 1], right[j]);
}

/// What the flux gives to the first `strips` strips, modes and trace, and to `row` behind them, if
/// it is not null: that is B^T Y^T of a right hand side. c: of the block of a warp, if it has one;
/// none has two. The team may write over Y afterwards, behind which there are two panels.
__device__ __forceinline__ void put_flux(const kg_cell_tiles *tiles, const cell_matrix &y,
                                         int strips, const double *row, kg_team team,
                                         double2 (&c)[4][4])
{
  const int warps = team.threads / 32, all = strips + (row != nullptr);
  const int turn = warps - 1 - team.thread / 32;  // those without a block come first
  double2 *const panel = y.tile(tiles->flux, 0) + threadIdx.x % 32;
  tile_block b = {};
  for_blocks(all, team, [&](tile_block own) { b = own; });
  clear_block(c);
#pragma unroll 1
  for (int k = 0; k < tiles->flux; ++k) {
    double2 *const own = panel + k % 2 * all * TILE_LANES;  // others may read the other
#pragma unroll 1
    for (int i = 2 * turn; i < all; i += 2 * warps) {
      double2 w[2] = {}, odd[2] = {};
#pragma unroll 4
      for (int j = 0; j <= k; ++j) {
        strip_pair down = {};
        if (i < strips) down = load_weak(tiles, i / 2, j);
        if (row && i <= strips && strips < i + 2) {
          const double2 of_row = tile_of_row(row, j);
          (strips == i ? down.even.x : down.even.y) = of_row.x;
          (strips == i ? down.odd.x : down.odd.y) = of_row.y;
        }
        const double2 right = y.at(k, j);
        tensor_multiply(w[0], w[1], down.even.x, down.even.y, right.x);
        tensor_multiply(odd[0], odd[1], down.odd.x, down.odd.y, right.y);
      }
      add_to<2>(w, odd);
      own[i * TILE_LANES] = w[0];
      if (i + 1 < all) own[(i + 1) * TILE_LANES] = w[1];
    }
    kg_team_wait(team);
    if (b.row < b.row_end) add_strips(own, b, c);
  }
  kg_team_wait(team);
}

/// (B x)_k of the rows of strips `first` on of B^T, of which x has n numbers.
__device__ __forceinline__ double weak_of(const kg_cell_tiles *tiles, int first, int n,
                                          const double *x, int k)
{
  const int pairs = (tiles->modes + tiles->traces + 1) / 2;
  const double *const column = tiles->weak + (k / 8 * pairs * 2 + k % 2) * KG_TILE_ENTRIES;
  double sum = 0.0;
#pragma unroll 8
  for (int a = 0; a < n; ++a) {
    const int strip = first + a / 8, entry = a % 8 * 4 + k % 8 / 2;
    sum = fma(__ldg(column + strip / 2 * 2 * KG_TILE_ENTRIES + 2 * entry + strip % 2), x[a], sum);
  }
  return sum;
}

/// x = M^-1 x, of whole strips; z is scratch for as many. The team may read x afterwards; waits
/// before.
__device__ __forceinline__ void multiply_by_inverse(const cell_matrix &y, int strips, kg_team team,
                                                    double *z, double *x)
{
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  const int warp = team.thread / 32, warps = team.threads / 32;
  kg_team_wait(team);
#pragma unroll 1
  for (int k = warp; k < strips; k += warps) {
    double sum = 0.0;
#pragma unroll 4
    for (int j = 0; j <= k; ++j) {
      const double2 tile = y.at(k, j);
      sum = fma(tile.x, x[8 * j + col], fma(tile.y, x[8 * j + col + 1], sum));
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (lane % 4 == 0) z[8 * k + row] = sum;
  }
  kg_team_wait(team);
#pragma unroll 1
  for (int j = warp; j < strips; j += warps) {
    double2 sum = make_double2(0.0, 0.0);
#pragma unroll 4
    for (int k = j; k < strips; ++k) {
      const double2 tile = y.at(k, j);
      sum = make_double2(fma(tile.x, z[8 * k + row], sum.x), fma(tile.y, z[8 * k + row], sum.y));
    }
    sum = sum_of_rows(sum);
    if (row != 0) continue;
    x[8 * j + col] = sum.x;
    x[8 * j + col + 1] = sum.y;
  }
  kg_team_wait(team);
}

}  // namespace kg

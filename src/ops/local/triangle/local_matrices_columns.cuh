// local_matrices_columns.cuh: the elimination of -[Z^-1; f^T; R^T] in the registers of a warp, a
// column of tiles after the other:
//
//   C_ij = [..]_ij - sum_{k < j} L_ik L_jk^T,  C_jj = L_jj L_jj^T,  L_ij = C_ij L_jj^-T
//
// with W^T below L, its columns beyond N being what the border and the load ask for
// (local_matrices_tensor.cuh). Tiles are built negative and inverses are negative: nothing has to
// change its sign.
#pragma once
#include "ops/local/triangle/local_matrices_tiles.cuh"
#include "ops/local/triangle/tile_inverse.cuh"

namespace kg
{

__device__ __forceinline__ void team_barrier(int team)
{
  part_barrier(1 + team, TEAM_THREADS);
}

/// L below the diagonal, then W^T: [column][row][element].
template <class shape>
using tile_columns = double2[shape::NT][shape::ROWS][shape::E];

/// Column j from the diagonal on: what is built less products of the columns before it; negative.
template <class shape>
__device__ __forceinline__ void reduce(const tile_warp<shape> &w, int j, int from, int to,
                                       tile_columns<shape> &l)
{
#pragma unroll
  for (int i = from; i < to; i += 2) {
    const bool pair = i >= j;  // else the second alone
    if (pair) build<shape>(w, i, j, l[j][i]);
    build<shape>(w, i + 1, j, l[j][i + 1]);
#pragma unroll
    for (int k = 0; k < j; ++k)
#pragma unroll
      for (int e = 0; e < shape::E; ++e)
        if (pair)
          tile_multiply(l[j][i][e], l[j][i + 1][e], l[k][i][e], l[k][i + 1][e], l[k][j][e]);
        else
          tile_multiply(l[j][i + 1][e], l[k][i + 1][e], l[k][j][e]);
  }
}

/// A copy in registers of its own. The compiler would keep a pair as it is computed, tile by tile,
/// and move it into the order of an operand, half by half, for each product.
__device__ __forceinline__ double2 moved(double2 a, int zero)
{
  return make_double2(__hiloint2double(__double2hiint(a.x) ^ zero, __double2loint(a.x) ^ zero),
                      __hiloint2double(__double2hiint(a.y) ^ zero, __double2loint(a.y) ^ zero));
}

/// Rows first.. of column j times the inverse, both negative.
template <class shape>
__device__ __forceinline__ void divide(const tile_warp<shape> &w, int j, int first,
                                       const double2 (&inverse)[shape::E], tile_columns<shape> &l)
{
#pragma unroll
  for (int i = pair_of<shape::ROWS>(first); i < shape::ROWS; i += 2)
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      double2 c = {}, d = {};
      if (i >= first) {
        tile_multiply(c, d, l[j][i][e], l[j][i + 1][e], inverse[e]);
        l[j][i][e] = moved(c, w.zero);
        l[j][i + 1][e] = moved(d, w.zero);
      } else {
        tile_multiply(d, l[j][i + 1][e], inverse[e]);
        l[j][i + 1][e] = d;
      }
    }
}

/// Row of an inverse in the place of row g, if lanes are to get columns t and 4 + t of the products
/// rather than 2 t and 2 t + 1.
__device__ __forceinline__ int apart(int g)
{
  return g / 2 + g % 2 * 4;
}

template <int E>
__device__ __forceinline__ void halves_apart(double2 (&inverse)[E])
{
  const int lane = threadIdx.x & 31, from = 4 * apart(lane / 4) + lane % 4;
#pragma unroll
  for (int e = 0; e < E; ++e)
    inverse[e] = make_double2(from_lane(inverse[e].x, from, 32), from_lane(inverse[e].y, from, 32));
}

template <class shape, int E>
__device__ __forceinline__ void invert_by_warp(int j, double2 (&inverse)[E])
{
  if (j < shape::NT - 1)
    invert_factors<8, E>(inverse);
  else
    invert_factors<shape::PIVOTS, E>(inverse);
}

/// Column j of L and W^T.
template <class shape>
__device__ __forceinline__ void eliminate(const tile_warp<shape> &w, int j, tile_columns<shape> &l)
{
  double2 inverse[shape::E];
  reduce<shape>(w, j, pair_of<shape::ROWS>(j), shape::ROWS, l);
#pragma unroll
  for (int e = 0; e < shape::E; ++e) inverse[e] = l[j][j][e];
  invert_by_warp<shape>(j, inverse);
  if (shape::HALF && j == shape::NT - 1) halves_apart(inverse);
  divide<shape>(w, j, j < shape::NT - 1 ? j + 1 : shape::BORDER_ROW, inverse, l);
}

/// Eliminates a column by a team of warps: tiles on the diagonal are inverted by the threads of one
/// warp while the others go on with the tiles below. All meet behind those: racecheck does not see
/// a warp that only arrives at a barrier, and synccheck none that waits for others in another
/// place.
template <class shape>
__device__ __forceinline__ void eliminate_by_team(const tile_warp<shape> &w, int team,
                                                  double2 (*team_tiles)[TILE_STRIDE], int j,
                                                  tile_columns<shape> &l)
{
  constexpr int last = shape::NT - 1;
  const int pair = pair_of<shape::ROWS>(j);
  reduce<shape>(w, j, pair, pair + 2, l);
#pragma unroll
  for (int e = 0; e < shape::E; ++e) w.tile[e][w.lane] = l[j][j][e];
  team_barrier(team);
  if (w.warp == j % TEAM_WARPS) {
    if (w.lane < shape::ELEMENTS) {
      if (j < last)
        invert_factor<8>(team_tiles[w.lane]);
      else
        invert_factor<shape::PIVOTS>(team_tiles[w.lane]);
    }
    __syncwarp();
  }
  reduce<shape>(w, j, pair + 2, shape::ROWS, l);
  team_barrier(team);
  double2 inverse[shape::E];
#pragma unroll
  for (int e = 0; e < shape::E; ++e)
    inverse[e] = w.tile[e][shape::HALF && j == last ? 4 * apart(w.row) + w.lane % 4 : w.lane];
  divide<shape>(w, j, j < last ? j + 1 : shape::BORDER_ROW, inverse, l);
}

}  // namespace kg

// make_tiles.cuh: kg_cell_make() by tiles. Behind the modes of u come the trace modes and, in the
// row behind the last of them, -f; what elimination leaves of these rows is K^e and -F^e. That row
// may need a strip of its own.
#pragma once
#include "ops/local/quadrature/cell_sums.cuh"
#include "ops/local/quadrature/cell_vectors.cuh"
#include "ops/local/quadrature/make.h"

namespace kg
{

__host__ __device__ inline int make_strips(const kg_cell_tables *t)
{
  return t->tiles.modes + t->size.n_trace / 8 + 1;
}

/// Doubles of the tiles of the flux, then of those of the matrix, in their place.
__host__ __device__ inline int make_tiles_count(const kg_cell_tables *t, bool exact)
{
  const int matrix = cell_matrix_count(make_strips(t));
  const int flux = flux_count(t, exact, t->tiles.modes + t->tiles.traces);
  return matrix > flux ? matrix : flux;
}

__host__ __device__ inline int make_count(const kg_cell_tables *t, bool exact)
{
  return make_tiles_count(t, exact) + cell_weights_count(t) + 8 * t->tiles.traces;
}

/// Warps that an element needs.
inline int make_warps(const kg_cell_tables *t, bool exact)
{
  return exact ? block_count(t->tiles.modes + t->tiles.traces) : 1;
}

/// What a tile of trace rows has besides the sums, of rows from mode `first` on: -t_l lift in the
/// columns of u, t_l on the diagonal, and -f.
__device__ __forceinline__ double2 trace_entry(const kg_cell_make_args &args, int32_t e,
                                               const cell_weights &w, int i, int j, double2 sum)
{
  const kg_cell_tables *t = &args.cells.tables;
  const int modes = t->tiles.modes, N = t->size.n_modes, n = t->size.n_trace;
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  const int a = 8 * (i - modes) + row;
  double2 out = negative(sum);
  if (j < modes) {
    if (a < n) {
      const double2 lift = __ldg((const double2 *)t->tiles.lift_of_traces + lane +
                                 ((i - modes) * modes + j) * TILE_LANES);
      out.x = fma(w.tau[a], lift.x, out.x);
      out.y = fma(w.tau[a], lift.y, out.y);
    } else if (a == n) {
      const int k = 8 * j + col;
      if (k < N) out.x = args.load[kg_cell_at(e, N, k)];
      if (k + 1 < N) out.y = args.load[kg_cell_at(e, N, k + 1)];
    }
  } else if (i == j && a < n) {
    if (col == row) out.x -= w.tau[a];
    if (col + 1 == row) out.y -= w.tau[a];
  }
  return out;
}

/// A strip of its own for -f.
__device__ __forceinline__ void put_load(const kg_cell_make_args &args, int32_t e,
                                         const cell_matrix &a, int strip, kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const int N = t->size.n_modes, lane = threadIdx.x % 32, col = lane % 4 * 2;
  for (int j = team.thread / 32; j <= strip; j += team.threads / 32) {
    const int k = 8 * j + col;
    double2 out = make_double2(0.0, 0.0);
    if (lane < 4 && k < N) out.x = args.load[kg_cell_at(e, N, k)];
    if (lane < 4 && k + 1 < N) out.y = args.load[kg_cell_at(e, N, k + 1)];
    a.at(strip, j) = out;
  }
}

/// Write what is left in a tile of the rows and columns of the trace: entries of K^e, and F^e from
/// the row behind.
__device__ __forceinline__ void write_tile(const kg_cell_make_args &args, int32_t e,
                                           const double *sign, int i, int j, double2 left)
{
  const kg_cell_sizes size = args.cells.tables.size;
  const int n = size.n_trace, lane = threadIdx.x % 32, p = 8 * i + lane / 4;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int q = 8 * j + lane % 4 * 2 + k;
    const double of_q = k == 0 ? left.x : left.y;
    if (p < n && q <= p)
      args.local[kg_cell_at(e, size.n_packed, p * (p + 1) / 2 + q)] = -sign[p] * sign[q] * of_q;
    else if (p == n && q < n)
      args.condensed[kg_cell_at(e, n, q)] = sign[q] * of_q;
  }
}

/// c = the tiles of a block of rows and columns behind the pivots, after elimination.
template <bool DIAGONAL>
__device__ __forceinline__ void gather_block(const cell_matrix &a, int pivots, int strips,
                                             tile_block b, double2 (&c)[4][4])
{
  const tile_rows<4> down(a, b.row, strips), across(a, b.col, strips);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      c[i][j] = b.has(i, j) ? down.row[i][(b.col + j) * TILE_LANES] : make_double2(0.0, 0.0);
#pragma unroll 1
  for (int k = 0; k < pivots; ++k) {
    double2 left[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) left[i] = down.row[i][k * TILE_LANES];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const double2 right = DIAGONAL ? left[j] : across.row[j][k * TILE_LANES];
      if (DIAGONAL && j % 2) tile_multiply(c[j][j], left[j], right);
#pragma unroll
      for (int i = DIAGONAL ? (j + 1) / 2 * 2 : 0; i < 4; i += 2)
        tile_multiply(c[i][j], c[i + 1][j], left[i], left[i + 1], right);
    }
  }
}

template <bool EXACT, int ROWS>
__device__ __forceinline__ void make_by_tiles(const kg_cell_make_args &args, int32_t e,
                                              kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const kg_cell_sizes size = t->size;
  if (e >= args.cells.n_elements) {
    KG_TEAM_EACH(team, i, 0, size.n_packed) args.local[kg_cell_at(e, size.n_packed, i)] = 0.0;
    KG_TEAM_EACH(team, i, 0, size.n_trace) args.condensed[kg_cell_at(e, size.n_trace, i)] = 0.0;
    return;
  }
  const int modes = t->tiles.modes, sums = modes + t->tiles.traces, strips = make_strips(t);
  const cell_matrix a = {(double2 *)team.scratch};
  double *const sign = team.scratch + make_tiles_count(t, EXACT);
  const cell_weights w =
      put_weights(args.cells, args.material, EXACT, e, team, sign + 8 * t->tiles.traces);
  KG_TEAM_EACH(team, i, 0, size.n_trace) sign[i] = kg_cell_sign(&args.cells, e, i);

  double2 c[4][4];
  if (EXACT) put_flux_inverse<ROWS>(t, w.geometry.flux_matrix, a, team);
  if (EXACT) put_flux(&t->tiles, a, sums, nullptr, team, c);
  for_blocks(sums, team, [&](tile_block b) {
    if (!EXACT) clear_block(c);
    add_sums<EXACT>(args.cells, args.material, w, b, c);
    with_block(a, b, c, [&](int i, int j, double2 &tile) {
      tile = i >= modes ? trace_entry(args, e, w, i, j, tile)
             : i == j   ? negative_padded(tile, 8 * i, size.n_modes)
                        : negative(tile);
    });
  });
  if (sums < strips) put_load(args, e, a, sums, team);
  eliminate<ROWS>(a, modes, strips, team);
  for_blocks(strips - modes, team, [&](tile_block of_trace) {
    const tile_block b = {of_trace.row + modes, of_trace.row_end + modes, of_trace.col + modes,
                          of_trace.col_end + modes};
    double2 c[4][4];
    if (b.row == b.col)
      gather_block<true>(a, modes, strips, b, c);
    else
      gather_block<false>(a, modes, strips, b, c);
    with_block(a, b, c, [&](int i, int j, double2 left) {
      write_tile(args, e, sign, i - modes, j - modes, left);
    });
  });
}

}  // namespace kg

// recover_tiles.cuh: kg_cell_recover() by tiles. Behind the modes of u comes one row, the right
// hand side.
#pragma once
#include "ops/local/quadrature/cell_sums.cuh"
#include "ops/local/quadrature/cell_vectors.cuh"

namespace kg
{

__host__ __device__ inline int recover_strips(const kg_cell_tables *t, bool exact)
{
  return flux_strips(t, exact) + t->tiles.modes + 1;
}

__host__ __device__ inline int recover_count(const kg_cell_tables *t, bool exact)
{
  const int strips = recover_strips(t, exact);
  return cell_matrix_count(strips) + cell_weights_count(t, exact) + t->size.n_trace +
         4 * t->points.n + 8 * strips;
}

/// Entry k of -B lambda, k counted with the rows behind the end of a strip.
__device__ __forceinline__ double weak_of_trace(const kg_cell_tables *t, const double *lambda,
                                                int k)
{
  const kg_cell_tiles *tiles = &t->tiles;
  double sum = 0.0;
  for (int a = 0; a < t->size.n_trace; ++a) {
    const int tile = (tiles->modes + a / 8) * 2 * tiles->half + k / 8;
    sum = fma(-__ldg(tiles->weak + tile * KG_TILE_ENTRIES + a % 8 * 8 + k % 8), lambda[a], sum);
  }
  return sum;
}

template <int ROWS>
__device__ __forceinline__ void recover_by_tiles(const kg_cell_recover_args &args, int32_t e,
                                                 kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const kg_cell_sizes size = t->size;
  const bool exact = args.material.exact;
  const any_shape z(t);
  const int N = size.n_modes, S = size.n_flux, n = size.n_trace;
  const int flux = flux_strips(t, exact), pivots = flux + t->tiles.modes;
  const cell_matrix a = {(double2 *)team.scratch};
  double *const lambda = team.scratch + cell_matrix_count(pivots + 1);
  double *const gradient = lambda + n, *const at_points = gradient + 2 * t->points.n;
  double *const x = at_points + 2 * t->points.n;
  const cell_weights w = put_weights(args.cells, args.material, e, team, x + 8 * (pivots + 1));
  take_trace(z, args, e, team, lambda);
  kg_team_wait(team);
  if (!exact)
    flux_of_columns(z, t, w.geometry.flux_matrix, N, N + n, lambda, false, team, gradient,
                    at_points);
  KG_TEAM_EACH(team, k, 0, 8 * pivots)
  {
    x[k] = k < 8 * flux ? weak_of_trace(t, lambda, k)
                        : right_hand_side(z, args, e, w.tau, lambda, exact ? nullptr : at_points,
                                          k - 8 * flux);
  }
  for_blocks(block_list{flux / 2, pivots}, team, [&](tile_block b) {
    if (b.col < flux) {
      put_flux_block(t, w, a, b);
      return;
    }
    double2 c[4][4] = {};
    add_sums(args.cells, args.material, w,
             tile_block{b.row - flux, b.row_end - flux, b.col - flux, b.col_end - flux}, c);
    put_block(a, b, c, [&](int i, int j, double2 sum) {
      return i == j ? negative_padded(sum, 8 * (i - flux), N) : negative(sum);
    });
  });
  kg_team_wait(team);
  put_row(a, pivots, x, team);
  kg_team_wait(team);
  const elimination whole = {flux, pivots, pivots + 1};
  eliminate<ROWS>(a, whole, team);
  if (team.thread < 32) substitute_back(a, whole, x);
  kg_team_wait(team);
  const double *const u = x + 8 * flux;
  KG_TEAM_EACH(team, i, 0, N) args.u[kg_cell_at(e, N, i)] = u[i];
  if (!exact)
    flux_of_columns(z, t, w.geometry.flux_matrix, 0, N, u, true, team, gradient, at_points);
  KG_TEAM_EACH(team, i, 0, S)
  {
    args.flux[kg_cell_at(e, S, i)] =
        exact ? x[i < S / 2 ? i : 4 * flux + i - S / 2] : flux_coefficient(z, t, at_points, i);
  }
}

}  // namespace kg

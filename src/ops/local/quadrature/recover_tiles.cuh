// recover_tiles.cuh: kg_cell_recover() by tiles. Behind the modes of u comes one row, the right
// hand side.
#pragma once
#include "ops/local/quadrature/cell_sums.cuh"
#include "ops/local/quadrature/recover.h"

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

/// The covariant gradient at the points from columns of Y, those of x, and what G makes of it. The
/// team may read them afterwards.
__device__ __forceinline__ void flux_of_columns(const kg_cell_tables *t, const double *g, int begin,
                                                int end, const double *x, bool add, kg_team team,
                                                double *gradient, double *flux)
{
  const int rows = 2 * t->points.n;
  KG_TEAM_EACH(team, k, 0, rows)
  {
    double sum = add ? gradient[k] : 0.0;
    const double *column = t->tiles.gradient_by_point + (int64_t)begin * rows + k;
    for (int j = begin; j < end; ++j, column += rows) sum = fma(__ldg(column), x[j - begin], sum);
    gradient[k] = sum;
  }
  kg_team_wait(team);
  KG_TEAM_EACH(team, q, 0, t->points.n)
  {
    const double along = gradient[2 * q], across = gradient[2 * q + 1];
    flux[2 * q] = g[3 * q] * along + g[3 * q + 1] * across;
    flux[2 * q + 1] = g[3 * q + 1] * along + g[3 * q + 2] * across;
  }
  kg_team_wait(team);
}

/// The right hand side of the modes of u: f + R lambda, without the part of the flux where it is
/// exact; else from the flux of lambda.
__device__ __forceinline__ double right_hand_side(const kg_cell_recover_args &args, int32_t e,
                                                  const cell_weights &w, const double *lambda,
                                                  const double *flux, int i)
{
  const kg_cell_tables *t = &args.cells.tables;
  const int N = t->size.n_modes, n = t->size.n_trace, p = N + n;
  if (i >= N) return 0.0;
  double sum = args.load[kg_cell_at(e, N, i)];
  for (int c = 0; c < n; ++c) sum = fma(w.tau[c] * lambda[c], __ldg(t->lift + c * N + i), sum);
  for (int k = 0; !args.material.exact && k < 2 * t->points.n; ++k)
    sum = fma(-__ldg(t->gradient + k * p + i), flux[k], sum);
  return sum;
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
  const int N = size.n_modes, S = size.n_flux, n = size.n_trace, m = size.n_facet;
  const int flux = flux_strips(t, exact), pivots = flux + t->tiles.modes;
  const cell_matrix a = {(double2 *)team.scratch};
  double *const lambda = team.scratch + cell_matrix_count(pivots + 1);
  double *const gradient = lambda + n, *const at_points = gradient + 2 * t->points.n;
  double *const x = at_points + 2 * t->points.n;
  const cell_weights w = put_weights(args.cells, args.material, e, team, x + 8 * (pivots + 1));
  KG_TEAM_EACH(team, c, 0, n)
  {
    const uint32_t side = args.cells.side_edge[kg_cell_at(e, size.n_facets, c / m)];
    lambda[c] = kg_cell_sign(&args.cells, e, c) * args.trace[(int64_t)(side >> 1) * m + c % m];
  }
  kg_team_wait(team);
  if (!exact)
    flux_of_columns(t, w.geometry.flux_matrix, N, N + n, lambda, false, team, gradient, at_points);
  KG_TEAM_EACH(team, k, 0, 8 * pivots)
  {
    x[k] = k < 8 * flux ? weak_of_trace(t, lambda, k)
                        : right_hand_side(args, e, w, lambda, at_points, k - 8 * flux);
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
  if (!exact) flux_of_columns(t, w.geometry.flux_matrix, 0, N, u, true, team, gradient, at_points);
  KG_TEAM_EACH(team, i, 0, S)
  {
    double sum = 0.0;
    if (exact) sum = x[i < S / 2 ? i : 4 * flux + i - S / 2];
    for (int q = 0; !exact && q < t->points.n; ++q)
      sum = fma(__ldg(t->points.flux + q * S + i), at_points[2 * q + (i >= S / 2)], sum);
    args.flux[kg_cell_at(e, S, i)] = sum;
  }
}

}  // namespace kg

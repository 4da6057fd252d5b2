// postprocess_tiles.cuh: kg_cell_postprocess() by tiles: the modes of u* but the constant, and the
// right hand side.
#pragma once
#include "ops/local/quadrature/cell_tiles.cuh"
#include "ops/local/quadrature/postprocess.h"

namespace kg
{

__host__ __device__ inline int postprocess_count(const kg_cell_tables *t)
{
  return cell_matrix_count(t->tiles.star + 1) + kg_cell_geometry_count(t) + 2 * t->points.n +
         t->size.n_modes + t->size.n_flux + 8 * t->tiles.star;
}

/// values [point][component]: weight times s; the team may read them afterwards.
__device__ __forceinline__ void weighted_flux(const kg_cell_tables *t, const double *s,
                                              kg_team team, double *values)
{
  const int n = t->points.n, half = t->size.n_flux / 2;
  KG_TEAM_EACH(team, k, 0, 2 * n)
  {
    const int q = k < n ? k : k - n, c = k >= n;
    double sum = 0.0;
    for (int i = c * half; i < (c + 1) * half; ++i)
      sum = fma(__ldg(t->tiles.flux_by_point + i * n + q), s[i], sum);
    values[2 * q + c] = __ldg(t->points.weight + q) * sum;
  }
  kg_team_wait(team);
}

/// u* - u at a point, without the constant mode of u*.
__device__ __forceinline__ double difference_at(const kg_cell_tables *t, const double *u,
                                                const double *x, int q)
{
  const double *const phi = t->tiles.value_by_point + q;
  const int n = t->points.n;
  double d = 0.0;
  for (int i = 1; i < t->size.n_star; ++i) d = fma(__ldg(phi + i * n), x[i - 1], d);
  for (int i = 0; i < t->size.n_modes; ++i) d = fma(-__ldg(phi + i * n), u[i], d);
  return d;
}

template <int ROWS>
__device__ __forceinline__ void postprocess_by_tiles(const kg_cell_postprocess_args &args,
                                                     int32_t e, kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const int N = t->size.n_modes, S = t->size.n_flux, n = t->size.n_star - 1;
  const int strips = t->tiles.star, points = t->points.n;
  const cell_matrix a = {(double2 *)team.scratch};
  double *const values = team.scratch + cell_matrix_count(strips + 1);
  double *const u = values + 2 * points, *const s = u + N, *const x = s + S;
  KG_TEAM_EACH(team, i, 0, N) u[i] = args.u[kg_cell_at(e, N, i)];
  KG_TEAM_EACH(team, i, 0, S) s[i] = args.flux[kg_cell_at(e, S, i)];
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args.cells, &args.material, e, team, x + 8 * strips);
  weighted_flux(t, s, team, values);
  KG_TEAM_EACH(team, i, 0, 8 * strips)
  {
    double sum = 0.0;
    for (int k = 0; i < n && k < 2 * points; ++k)
      sum = fma(__ldg(t->star + k * n + i), values[k], sum);
    x[i] = sum;
  }
  for_blocks(block_list{0, strips}, team, [&](tile_block b) {
    double2 c[4][4] = {};
    add_any_sum<false>(gradient_sum{t->tiles.star_gradient, strips, points, geometry.flux_matrix},
                       b, c);
    put_block(a, b, c, [&](int i, int j, double2 sum) {
      return i == j ? negative_padded(sum, 8 * i, n) : negative(sum);
    });
  });
  kg_team_wait(team);
  put_row(a, strips, x, team);
  kg_team_wait(team);
  const elimination whole = {0, strips, strips + 1};
  eliminate<ROWS>(a, whole, team);
  if (team.thread >= 32) return;
  substitute_back(a, whole, x);

  double sum = 0.0, area = 0.0, square = 0.0;
  for (int q = team.thread; q < points; q += 32) {
    values[q] = difference_at(t, u, x, q);
    sum += geometry.jacobian[q] * values[q];
    area += geometry.jacobian[q];
  }
  const double mean = kg_team_sum(sum) / kg_team_sum(area);
  for (int q = team.thread; q < points; q += 32)
    square += geometry.jacobian[q] * (values[q] - mean) * (values[q] - mean);
  square = kg_team_sum(square);
  for (int i = team.thread; i < n; i += 32) args.u_star[kg_cell_at(e, n + 1, i + 1)] = x[i];
  if (team.thread == 0) {
    args.u_star[kg_cell_at(e, n + 1, 0)] = -mean / t->points.value[0];
    args.indicator[kg_cell_at(e, 1, 0)] = sqrt(square);
  }
}

}  // namespace kg

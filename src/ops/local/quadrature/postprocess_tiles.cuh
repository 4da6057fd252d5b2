// postprocess_tiles.cuh: kg_cell_postprocess() by tiles: the modes of u* but the constant, and the
// right hand side.
#pragma once
#include "ops/local/quadrature/cell_elimination.cuh"
#include "ops/local/quadrature/cell_vectors.cuh"

namespace kg
{

__host__ __device__ inline int postprocess_count(const kg_cell_tables *t)
{
  return cell_matrix_count(t->tiles.star + 1) + kg_cell_geometry_count(t) + 2 * t->points.n +
         t->size.n_modes + t->size.n_flux + 8 * t->tiles.star;
}

template <int ROWS>
__device__ __forceinline__ void postprocess_by_tiles(const kg_cell_postprocess_args &args,
                                                     int32_t e, kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const any_shape z(t);
  const int N = z.N, S = z.S, n = z.N_STAR - 1;
  const int strips = t->tiles.star, points = t->points.n;
  const cell_matrix a = {(double2 *)team.scratch};
  double *const values = team.scratch + cell_matrix_count(strips + 1);
  double *const u = values + 2 * points, *const s = u + N, *const x = s + S;
  KG_TEAM_EACH(team, i, 0, N) u[i] = args.u[kg_cell_at(e, N, i)];
  kg_cell_take_fluxes(&args, e, team, s);
  const kg_cell_material material = kg_cell_star_material(&args.material);
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args.cells, &material, e, team, x + 8 * strips);
  weighted_flux(z, args, t, s, geometry.flux_matrix, team, values);
  KG_TEAM_EACH(team, i, 0, 8 * strips) x[i] = star_load(z, t, values, i);
  for_blocks(strips, team, [&](tile_block b) {
    double2 c[4][4] = {};
    add_any_sum<false>(gradient_sum{t->tiles.star_gradient, strips, points, geometry.flux_matrix},
                       b, c);
    put_block(a, b, c, [&](int i, int j, double2 sum) {
      return i == j ? negative_padded(sum, 8 * i, n) : negative(sum);
    });
  });
  kg_team_wait(team);
  put_row(a, strips, x, team);
  eliminate<ROWS>(a, strips, strips + 1, team);
  if (team.thread >= 32) return;
  substitute_back(a, strips, x);
  write_star(z, args, e, geometry, u, x, values);
}

}  // namespace kg

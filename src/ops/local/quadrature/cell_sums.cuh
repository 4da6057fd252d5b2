// cell_sums.cuh: the matrix of the unknowns of an element by tiles: what make_tiles.cuh and
// recover_tiles.cuh eliminate. Unknowns are the modes of u; then what a caller adds:
//
//   sum_q w_q Y_q^T G_q Y_q + (c u, v) + sum_l t_l <u, v>_l
//
// with material.exact B^T M^-1 B (flux_inverse.cuh) in place of the first sum.
#pragma once
#include "ops/local/quadrature/flux_inverse.cuh"

namespace kg
{

/// Numbers of an element in shared memory behind its tiles.
struct cell_weights {
  kg_cell_geometry geometry;  ///< with material.exact its flux matrix is weight times G^-1
  double *tau;                ///< [8 traces]: t_l by trace mode
  double *mass;               ///< [point]: weight times c J
};

__host__ __device__ inline int cell_weights_count(const kg_cell_tables *t)
{
  return kg_cell_geometry_count(t) + 8 * t->tiles.traces + t->points.n;
}

/// Doubles of Y and of two panels for so many strips, if material.exact.
__host__ __device__ inline int flux_count(const kg_cell_tables *t, bool exact, int strips)
{
  return exact ? cell_matrix_count(t->tiles.flux) + 2 * strips * KG_TILE_ENTRIES : 0;
}

/// The team may read them afterwards.
__device__ __forceinline__ cell_weights put_weights(const kg_cells &cells,
                                                    const kg_cell_material &material, bool exact,
                                                    int32_t e, kg_team team, double *scratch)
{
  const kg_cell_tables *t = &cells.tables;
  cell_weights out = {kg_cell_geometry_make(&cells, &material, e, team, scratch),
                      scratch + kg_cell_geometry_count(t), nullptr};
  out.mass = out.tau + 8 * t->tiles.traces;
  KG_TEAM_EACH(team, a, 0, 8 * t->tiles.traces)
  {
    out.tau[a] = a < t->size.n_trace ? out.geometry.tau[a / t->size.n_facet] : 0.0;
  }
  if (material.reaction != 0.0) KG_TEAM_EACH(team, q, 0, t->points.n)
    {
      out.mass[q] = kg_cell_reaction_at(t, &material, e, q) * out.geometry.jacobian[q];
    }
  if (exact) KG_TEAM_EACH(team, q, 0, t->points.n)
    {
      double *const g = out.geometry.flux_matrix + 3 * q;
      const double w = t->points.weight[q], scale = w * w / (g[0] * g[2] - g[1] * g[1]);
      const double along = g[0];
      g[0] = scale * g[2];
      g[1] = -scale * g[1];
      g[2] = scale * along;
    }
  kg_team_wait(team);
  return out;
}

/// The sums of a block of the rows and columns of u, and of the trace where `gradient` has them.
template <bool EXACT>
__device__ __forceinline__ void add_sums(const kg_cells &cells, const kg_cell_material &material,
                                         const cell_weights &w, tile_block b, double2 (&c)[4][4])
{
  const kg_cell_tables *t = &cells.tables;
  const kg_cell_tiles *tiles = &t->tiles;
  if (!EXACT)
    add_any_sum<false>(gradient_sum{tiles->gradient, tiles->modes + tiles->traces, t->points.n,
                                    w.geometry.flux_matrix},
                       b, c);
  if (b.row >= tiles->modes) return;
  add_any_sum<true>(value_sum{tiles->lift_of_modes, tiles->modes, t->size.n_trace, w.tau}, b, c);
  if (material.reaction != 0.0)
    add_any_sum<true>(value_sum{tiles->value, tiles->modes, t->points.n, w.mass}, b, c);
}

/// `row` as row 0 of the strip behind the others, over all columns of `strips` strips.
__device__ __forceinline__ void put_row(const cell_matrix &a, int strips, const double *row,
                                        kg_team team)
{
  for (int j = team.thread / 32; j < strips; j += team.threads / 32)
    a.at(strips, j) = tile_of_row(row, j);
  if (team.thread < 32) a.at(strips, strips) = make_double2(0.0, 0.0);
}

}  // namespace kg

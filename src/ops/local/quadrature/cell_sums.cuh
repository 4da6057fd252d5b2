// cell_sums.cuh: the matrix of the unknowns of an element by tiles: what make_tiles.cuh and
// recover_tiles.cuh eliminate.
//
// Unknowns  the S flux functions, in two halves, if material.exact; the modes of u; then what a
//           caller adds
//
//   exact   [ M       ]        else   [ sum_q w_q Y_q^T G_q Y_q + (c u, v) + sum_l t_l <u, v>_l ]
//           [ B^T  Z0 ]
//
// with M = sum_q w_q Phi^T G^-1 Phi and Z0 the last two terms.
#pragma once
#include "ops/local/quadrature/cell_tiles.cuh"

namespace kg
{

/// Numbers of an element in shared memory behind its tiles.
struct cell_weights {
  kg_cell_geometry geometry;
  double *tau;      ///< [8 traces]: t_l by trace mode
  double *mass;     ///< [point]: weight times c J
  double *inverse;  ///< [3][point]: weight times G^-1
};

__host__ __device__ inline int cell_weights_count(const kg_cell_tables *t, bool exact)
{
  return kg_cell_geometry_count(t) + 8 * t->tiles.traces + (exact ? 4 : 1) * t->points.n;
}

__host__ __device__ inline int flux_strips(const kg_cell_tables *t, bool exact)
{
  return exact ? 2 * t->tiles.half : 0;
}

/// The team may read them afterwards.
__device__ inline cell_weights put_weights(const kg_cells &cells, const kg_cell_material &material,
                                           int32_t e, kg_team team, double *scratch)
{
  const kg_cell_tables *t = &cells.tables;
  const int n = t->points.n;
  cell_weights out = {kg_cell_geometry_make(&cells, &material, e, team, scratch),
                      scratch + kg_cell_geometry_count(t), nullptr, nullptr};
  out.mass = out.tau + 8 * t->tiles.traces;
  out.inverse = out.mass + n;
  KG_TEAM_EACH(team, a, 0, 8 * t->tiles.traces)
  {
    out.tau[a] = a < t->size.n_trace ? out.geometry.tau[a / t->size.n_facet] : 0.0;
  }
  KG_TEAM_EACH(team, q, 0, n)
  {
    out.mass[q] = kg_cell_reaction_at(t, &material, e, q) * out.geometry.jacobian[q];
    if (!material.exact) continue;
    const double *const g = out.geometry.flux_matrix + 3 * q;
    const double w = t->points.weight[q], scale = w * w / (g[0] * g[2] - g[1] * g[1]);
    out.inverse[q] = scale * g[2];
    out.inverse[n + q] = -scale * g[1];
    out.inverse[2 * n + q] = scale * g[0];
  }
  kg_team_wait(team);
  return out;
}

/// The sums of a block of the rows and columns of u, and of the trace where `gradient` has them.
__device__ __forceinline__ void add_sums(const kg_cells &cells, const kg_cell_material &material,
                                         const cell_weights &w, tile_block b, double2 (&c)[4][4])
{
  const kg_cell_tables *t = &cells.tables;
  const kg_cell_tiles *tiles = &t->tiles;
  if (!material.exact)
    add_any_sum<false>(gradient_sum{tiles->gradient, tiles->modes + tiles->traces, t->points.n,
                                    w.geometry.flux_matrix},
                       b, c);
  if (b.row >= tiles->modes) return;
  add_any_sum<true>(value_sum{tiles->lift_of_modes, tiles->modes, t->size.n_trace, w.tau}, b, c);
  if (material.values || material.reaction != 0.0)
    add_any_sum<true>(value_sum{tiles->value, tiles->modes, t->points.n, w.mass}, b, c);
}

/// Set the tiles of a block that has rows or columns of flux functions.
__device__ __forceinline__ void put_flux_block(const kg_cell_tables *t, const cell_weights &w,
                                               const cell_matrix &a, tile_block b)
{
  const kg_cell_tiles *tiles = &t->tiles;
  const int half = tiles->half, lane = threadIdx.x % 32;
  double2 c[4][4] = {};
  if (b.row < 2 * half) {
    const int gap = half % 2, rows = b.row >= half, cols = b.col >= half;  // of pairs of a half
    const tile_block of_table = {b.row + rows * gap, b.row_end, b.col + cols * gap, b.col_end};
    add_any_sum<false>(value_sum{tiles->flux, 2 * (half + gap), t->points.n,
                                 w.inverse + (rows + cols) * t->points.n},
                       of_table, c);
  }
  const double2 *const weak = (const double2 *)tiles->weak + lane;
  put_block(a, b, c, [&](int i, int j, double2 sum) {
    const int row = i - 2 * half;  // of B^T
    if (row >= 0) return negative(__ldg(weak + (row * 2 * half + j) * TILE_LANES));
    return i == j ? negative_padded(sum, 8 * (i % half), t->size.n_flux / 2) : negative(sum);
  });
}

/// `row` as row 0 of the strip behind the others, over all columns of `strips` strips.
__device__ __forceinline__ void put_row(const cell_matrix &a, int strips, const double *row,
                                        kg_team team)
{
  const int lane = threadIdx.x % 32, col = lane % 4 * 2;
  for (int j = team.thread / 32; j < strips; j += team.threads / 32)
    a.at(strips, j) =
        lane < 4 ? make_double2(row[8 * j + col], row[8 * j + col + 1]) : make_double2(0.0, 0.0);
  if (team.thread < 32) a.at(strips, strips) = make_double2(0.0, 0.0);
}

}  // namespace kg

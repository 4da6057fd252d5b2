// recover_tiles.cuh: kg_cell_recover() by tiles. Behind the modes of u comes one row, the right
// hand side.
#pragma once
#include "ops/local/quadrature/cell_sums.cuh"
#include "ops/local/quadrature/cell_vectors.cuh"

namespace kg
{

/// The flux of an element: of the trace, which the right hand side takes, then of u too.
template <class Shape>
struct recover_flux {
  Shape z;
  const kg_cell_tables *t;
  bool exact;
  const double *g;  ///< [point][3]: weight times G
  /// The weak gradient: [point][component] covariant, or with `exact` [8 strips] in the flux
  /// functions.
  double *gradient;
  double *flux;  ///< [point][component], or with `exact` scratch

  static __host__ __device__ int count(const kg_cell_tables *t, bool exact)
  {
    return exact ? 16 * t->tiles.flux : 4 * t->points.n;
  }
  __device__ __forceinline__ recover_flux(Shape z_, const kg_cell_tables *t_, bool exact_,
                                          const double *g_, double *scratch)
      : z(z_),
        t(t_),
        exact(exact_),
        g(g_),
        gradient(scratch),
        flux(scratch + (exact_ ? 8 * t_->tiles.flux : 2 * z_.POINTS))
  {
  }
  /// The team may read the result afterwards.
  __device__ __forceinline__ void take_trace(const double *lambda, kg_team team) const
  {
    if (exact) {
      KG_TEAM_EACH(team, k, 0, 8 * t->tiles.flux)
      {
        gradient[k] = weak_of(&t->tiles, t->tiles.modes, z.n, lambda, k);
      }
      kg_team_wait(team);
    } else {
      flux_of_columns(z, t, g, z.N, z.N + z.n, lambda, false, team, gradient, flux);
    }
  }
  /// What the right hand side takes of it: with `exact` elimination brings it.
  __device__ __forceinline__ const double *of_trace() const
  {
    return exact ? nullptr : flux;
  }
  /// Write u, which the team may read, and the coefficients of the flux, with `keeps_gradient` also
  /// of the weak gradient.
  __device__ __forceinline__ void write(const kg_cell_recover_args &args, int32_t e,
                                        const cell_matrix &y, const double *lambda, const double *u,
                                        kg_team team) const
  {
    KG_TEAM_EACH(team, i, 0, z.N) args.u[kg_cell_at(e, z.N, i)] = u[i];
    if (exact) {
      KG_TEAM_EACH(team, k, 0, 8 * t->tiles.flux) gradient[k] += weak_of(&t->tiles, 0, z.N, u, k);
      multiply_by_inverse(y, t->tiles.flux, team, flux, gradient);
    } else {
      flux_of_columns(z, t, g, 0, z.N, u, true, team, gradient, flux);
    }
    const bool keeps_gradient = args.material.keeps_gradient;
    const int rows = kg_cell_flux_rows(z.S, keeps_gradient);
    KG_TEAM_EACH(team, i, 0, z.S)
    {
      args.flux[kg_cell_at(e, rows, i)] = exact ? gradient[i] : flux_coefficient(z, t, flux, i);
    }
    if (!keeps_gradient) return;
    KG_TEAM_EACH(team, i, 0, z.S)
    {
      args.flux[kg_cell_at(e, rows, z.S + i)] =
          weak_of(&t->tiles, 0, z.N, u, i) + weak_of(&t->tiles, t->tiles.modes, z.n, lambda, i);
    }
  }
};

__host__ __device__ inline int recover_count(const kg_cell_tables *t, bool exact)
{
  const int strips = t->tiles.modes + 1;
  return cell_matrix_count(strips) + flux_count(t, exact, strips) + t->size.n_trace +
         recover_flux<any_shape>::count(t, exact) + 8 * strips + cell_weights_count(t);
}

/// Warps that an element needs.
inline int recover_warps(const kg_cell_tables *t, bool exact)
{
  return exact ? block_count(t->tiles.modes + 1) : 1;
}

template <bool EXACT, int ROWS>
__device__ __forceinline__ void recover_by_tiles(const kg_cell_recover_args &args, int32_t e,
                                                 kg_team team)
{
  const kg_cell_tables *t = &args.cells.tables;
  const any_shape z(t);
  const int N = z.N, n = z.n, modes = t->tiles.modes;
  const cell_matrix a = {(double2 *)team.scratch};
  const cell_matrix flux = {(double2 *)(team.scratch + cell_matrix_count(modes + 1))};
  double *const lambda = (double *)flux.tiles + flux_count(t, EXACT, modes + 1);
  double *const vectors = lambda + n, *const x = vectors + recover_flux<any_shape>::count(t, EXACT);
  const cell_weights w =
      put_weights(args.cells, args.material, EXACT, e, team, x + 8 * (modes + 1));
  const recover_flux<any_shape> own(z, t, EXACT, w.geometry.flux_matrix, vectors);
  take_trace(z, args, e, team, lambda);
  kg_team_wait(team);
  own.take_trace(lambda, team);
  KG_TEAM_EACH(team, i, 0, 8 * modes)
  {
    x[i] = right_hand_side(z, args, e, w.tau, lambda, own.of_trace(), i);
  }
  kg_team_wait(team);
  double2 c[4][4];
  if (EXACT) put_flux_inverse<ROWS>(t, w.geometry.flux_matrix, flux, team);
  if (EXACT) put_flux(&t->tiles, flux, modes, own.gradient, team, c);
  for_blocks(modes + 1, team, [&](tile_block b) {
    if (!EXACT) clear_block(c);
    add_sums<EXACT>(args.cells, args.material, w, b, c);
    with_block(a, b, c, [&](int i, int j, double2 &tile) {
      const double2 right = i < modes ? make_double2(0.0, 0.0) : tile_of_row(x, j);
      if (i == j && i < modes)
        tile = negative_padded(tile, 8 * i, N);
      else
        tile = EXACT || i < modes ? make_double2(right.x - tile.x, right.y - tile.y) : right;
    });
  });
  eliminate<ROWS>(a, modes, modes + 1, team);
  if (team.thread < 32) substitute_back(a, modes, x);
  kg_team_wait(team);
  own.write(args, e, flux, lambda, x, team);
}

}  // namespace kg

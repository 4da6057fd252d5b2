/// @file
/// Local matrices and condensed loads by quadrature, of any shape.
///
///   [ Z^-1  -R ]
///   [ -R^T  S0 ] = sum_q w_q Y_q^T G_q Y_q + (c u, v) + sum_l t_l <u - lambda, v - mu>_l,
///   K^e = S0 - R^T Z R,   F^e = R^T Z f^e
///
/// with Y the weak covariant gradient of u and trace (basis/cell_tables.h) and G of geometry and
/// diffusion (elements.h). The flux is thus the projection of G times that gradient: on straight
/// triangles and parallelograms with constant diffusion this is exactly the method of docs/math.md;
/// on other quadrilaterals its flux converges with order P + 1/2, and u with P + 1. With
/// material.exact (exact.h) the flux has order P + 1 there too.
#pragma once
#include "ops/local/quadrature/forms.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_make_args {
  kg_cells cells;
  kg_cell_material material;
  const double *load;  ///< [group][N][lane]: f^e = (f, phi_i)
  double *local;       ///< out: [group][row][lane], packed K^e; 0 in empty lanes
  double *condensed;   ///< out: [group][n][lane], F^e; 0 in empty lanes
} kg_cell_make_args;

KG_DECLARE_OPERATOR(kg_cell_make, kg_cell_make_args);
kg_cost kg_cell_make_cost(const kg_cell_tables *t, const kg_cell_material *material,
                          int64_t n_elements);

/// Things of the operator: lanes.
KG_INLINE int32_t kg_cell_make_things(const kg_cell_make_args *a)
{
  return kg_cells_groups(&a->cells) * KG_LANES;
}

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_make_scratch(const kg_cell_tables *t, const kg_cell_material *material)
{
  const int rows = t->size.n_modes + t->size.n_trace + 1;
  return (size_t)(kg_cell_geometry_count(t) + rows + rows * (rows + 1) / 2 +
                  kg_cell_exact_count(t, material));
}

/// Write K^e and F^e from what elimination leaves in the rows of the trace and of -f, with signs of
/// reversed facets.
KG_INLINE void kg_cell_make_write(const kg_cell_make_args *args, int32_t e, kg_team team,
                                  const double *a)
{
  const kg_cell_sizes size = args->cells.tables.size;
  const int N = size.n_modes, n = size.n_trace, p = N + n;
  for (int i = 0; i < n; ++i) {
    const double sign = kg_cell_sign(&args->cells, e, i);
    const double *const row = a + (N + i) * (N + i + 1) / 2 + N;
    KG_TEAM_EACH(team, j, 0, i + 1)
    {
      args->local[kg_cell_at(e, size.n_packed, i * (i + 1) / 2 + j)] =
          sign * kg_cell_sign(&args->cells, e, j) * row[j];
    }
  }
  const double *const load = a + p * (p + 1) / 2 + N;
  KG_TEAM_EACH(team, i, 0, n)
  {
    args->condensed[kg_cell_at(e, n, i)] = -kg_cell_sign(&args->cells, e, i) * load[i];
  }
}

/// Lane `lane` of the range.
KG_INLINE void kg_cell_make_lane(const void *arguments, int32_t lane, kg_team team)
{
  const kg_cell_make_args *args = (const kg_cell_make_args *)arguments;
  const kg_cell_tables *t = &args->cells.tables;
  const kg_cell_sizes size = t->size;
  const int N = size.n_modes, n = size.n_trace, p = N + n;
  if (lane >= args->cells.n_elements) {
    KG_TEAM_EACH(team, i, 0, size.n_packed) args->local[kg_cell_at(lane, size.n_packed, i)] = 0.0;
    KG_TEAM_EACH(team, i, 0, n) args->condensed[kg_cell_at(lane, n, i)] = 0.0;
    return;
  }
  double *const column = team.scratch + kg_cell_geometry_count(t);
  double *const a = column + p + 1, *const load = a + p * (p + 1) / 2, *const h = load + p + 1;
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args->cells, &args->material, lane, team, team.scratch);
  kg_cell_put_stabilization(t, &geometry, p, team, a);
  KG_TEAM_EACH(team, i, 0, p + 1) load[i] = i < N ? -args->load[kg_cell_at(lane, N, i)] : 0.0;
  kg_team_wait(team);
  kg_cell_add_mass(t, &geometry, &args->material, lane, team, a);
  kg_cell_add_flux(t, &geometry, args->material.exact, p, team, h, a);
  kg_cell_eliminate(N, p + 1, team, column, a);
  kg_cell_make_write(args, lane, team, a);
}

KEDGE_END_DECLS

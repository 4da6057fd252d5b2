/// @file
/// Local solves by quadrature: u and the flux of every element from the trace, Z made again.
///
///   u = Z (f + R lambda),   s_i = sum_q w_q Phi_i(q)^T G_q g_q,   g_q = Y_q [u; lambda]
///
/// The flux is kept as the S coefficients s of the flux functions on the reference element: sigma =
/// kappa q = F sum_i s_i Phi_i / J at a point (kg_cell_flux_of()), q = kappa^-1 sigma
/// (kg_cell_gradient_of()). On quadrilaterals that are no parallelograms sigma is no polynomial in
/// x, y, and no components of q are kept.
#pragma once
#include "ops/local/quadrature/forms.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_recover_args {
  kg_cells cells;
  kg_cell_material material;
  const double *trace;  ///< [trace facet][mode]
  const double *load;   ///< [group][N][lane]: f^e
  double *u;            ///< out: [group][N][lane]
  double *flux;         ///< out: [group][S][lane]: s
} kg_cell_recover_args;

KG_DECLARE_OPERATOR(kg_cell_recover, kg_cell_recover_args);
kg_cost kg_cell_recover_cost(const kg_cell_tables *t, int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_recover_scratch(const kg_cell_tables *t)
{
  const int rows = t->size.n_modes + 1;
  return (size_t)(kg_cell_geometry_count(t) + 2 * t->points.n + t->size.n_trace + rows +
                  rows * (rows + 1) / 2);
}

/// flux[q] = w G (Y [u; lambda]) at all points, the columns of Y from `begin` to `end` times x.
KG_INLINE void kg_cell_flux_at_points(const kg_cell_tables *t, const kg_cell_geometry *geometry,
                                      int begin, int end, const double *x, bool add, kg_team team,
                                      double *flux)
{
  const int p = t->size.n_modes + t->size.n_trace;
  KG_TEAM_EACH(team, q, 0, t->points.n)
  {
    const double *const y = t->gradient + 2 * q * p, *const z = y + p;
    const double *const g = geometry->flux_matrix + 3 * q;
    double along = 0.0, across = 0.0;
    for (int j = begin; j < end; ++j) {
      along += y[j] * x[j - begin];
      across += z[j] * x[j - begin];
    }
    const double r = g[0] * along + g[1] * across, s = g[1] * along + g[2] * across;
    flux[2 * q] = add ? flux[2 * q] + r : r;
    flux[2 * q + 1] = add ? flux[2 * q + 1] + s : s;
  }
}

/// x = f + R lambda.
KG_INLINE void kg_cell_right_hand_side(const kg_cell_recover_args *args, int32_t e,
                                       const kg_cell_geometry *geometry, const double *lambda,
                                       const double *flux, kg_team team, double *x)
{
  const kg_cell_tables *t = &args->cells.tables;
  const int N = t->size.n_modes, m = t->size.n_facet, n = t->size.n_trace, p = N + n;
  KG_TEAM_EACH(team, i, 0, N)
  {
    double sum = args->load[kg_cell_at(e, N, i)];
    for (int c = 0; c < n; ++c) sum += geometry->tau[c / m] * t->lift[c * N + i] * lambda[c];
    for (int q = 0; q < t->points.n; ++q)
      sum -= t->gradient[2 * q * p + i] * flux[2 * q] +
             t->gradient[(2 * q + 1) * p + i] * flux[2 * q + 1];
    x[i] = sum;
  }
}

/// Element e of the range.
KG_INLINE void kg_cell_recover_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_recover_args *args = (const kg_cell_recover_args *)arguments;
  const kg_cell_tables *t = &args->cells.tables;
  const kg_cell_sizes size = t->size;
  const int N = size.n_modes, S = size.n_flux, m = size.n_facet, n = size.n_trace, p = N + n;
  double *const flux = team.scratch + kg_cell_geometry_count(t);
  double *const lambda = flux + 2 * t->points.n, *const column = lambda + n;
  double *const a = column + N + 1, *const u = a + N * (N + 1) / 2;  // its last row
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args->cells, &args->material, e, team, team.scratch);
  KG_TEAM_EACH(team, c, 0, n)
  {
    const uint32_t side = args->cells.side_edge[kg_cell_at(e, size.n_facets, c / m)];
    lambda[c] = kg_cell_sign(&args->cells, e, c) * args->trace[(int64_t)(side >> 1) * m + c % m];
  }
  kg_cell_put_stabilization(t, &geometry, N, team, a);
  kg_team_wait();
  kg_cell_add_mass(&t->points, &geometry, args->material.reaction, team, a);
  kg_cell_add_gradients(&t->points, &geometry, t->gradient, p, N, team, a);
  kg_cell_flux_at_points(t, &geometry, N, p, lambda, false, team, flux);
  kg_team_wait();
  kg_cell_right_hand_side(args, e, &geometry, lambda, flux, team, u);
  if (team.thread == 0) u[N] = 0.0;
  kg_cell_eliminate(N, N + 1, team, column, a);
  kg_cell_substitute(N, a, team, u);
  kg_cell_flux_at_points(t, &geometry, 0, N, u, true, team, flux);
  KG_TEAM_EACH(team, i, 0, N) args->u[kg_cell_at(e, N, i)] = u[i];
  kg_team_wait();
  KG_TEAM_EACH(team, i, 0, S)
  {
    double sum = 0.0;
    for (int q = 0; q < t->points.n; ++q)
      sum += t->points.flux[q * S + i] * flux[2 * q + (i >= S / 2)];
    args->flux[kg_cell_at(e, S, i)] = sum;
  }
}

KEDGE_END_DECLS

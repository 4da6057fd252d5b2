/// @file
/// Local solves by quadrature: u and the flux of every element from the trace, Z made again.
///
///   u = Z (f + R lambda),   s_i = sum_q w_q Phi_i(q)^T G_q g_q,   g_q = Y_q [u; lambda]
///
/// or, with material.exact, s = H (F~ lambda - D^T u) of exact.h.
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
  double *flux;         ///< out: [group][kg_cell_flux_rows()][lane]: s, and g
} kg_cell_recover_args;

KG_DECLARE_OPERATOR(kg_cell_recover, kg_cell_recover_args);
kg_cost kg_cell_recover_cost(const kg_cell_tables *t, const kg_cell_material *material,
                             int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_recover_scratch(const kg_cell_tables *t, const kg_cell_material *material)
{
  const int rows = t->size.n_modes + 1;
  return (size_t)(kg_cell_geometry_count(t) + 2 * t->points.n + t->size.n_trace + rows +
                  rows * (rows + 1) / 2 + kg_cell_exact_count(t, material));
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

/// The flux of the columns of Y or B from `begin` to `end` times x, set or added: s where it is
/// exact, else values at the points. Others may read it after kg_team_wait().
KG_INLINE void kg_cell_take_flux(const kg_cell_recover_args *args, const kg_cell_geometry *geometry,
                                 int begin, int end, const double *x, bool add, kg_team team,
                                 double *h, double *flux)
{
  const kg_cell_tables *t = &args->cells.tables;
  if (!args->material.exact) {
    kg_cell_flux_at_points(t, geometry, begin, end, x, add, team, flux);
    return;
  }
  if (!add) KG_TEAM_EACH(team, i, 0, t->size.n_flux) flux[i] = 0.0;
  kg_cell_exact_flux(t, h, begin, end, x, team, flux);
}

/// x = f + R lambda, from the flux of lambda.
KG_INLINE void kg_cell_right_hand_side(const kg_cell_recover_args *args, int32_t e,
                                       const kg_cell_geometry *geometry, const double *lambda,
                                       const double *flux, kg_team team, double *x)
{
  const kg_cell_tables *t = &args->cells.tables;
  const int N = t->size.n_modes, m = t->size.n_facet, n = t->size.n_trace, p = N + n;
  const int S = t->size.n_flux;
  KG_TEAM_EACH(team, i, 0, N)
  {
    double sum = args->load[kg_cell_at(e, N, i)];
    for (int c = 0; c < n; ++c) sum += geometry->tau[c / m] * t->lift[c * N + i] * lambda[c];
    if (args->material.exact)
      for (int k = 0; k < S; ++k) sum += t->divergence[i * S + k] * flux[k];
    else
      for (int q = 0; q < t->points.n; ++q)
        sum -= t->gradient[2 * q * p + i] * flux[2 * q] +
               t->gradient[(2 * q + 1) * p + i] * flux[2 * q + 1];
    x[i] = sum;
  }
}

/// s_i, from the flux, which the team may read.
KG_INLINE double kg_cell_flux_coefficient(const kg_cell_recover_args *args, const double *flux,
                                          int i)
{
  const kg_cell_tables *t = &args->cells.tables;
  const int S = t->size.n_flux;
  double sum = 0.0;
  if (args->material.exact) return flux[i];
  for (int q = 0; q < t->points.n; ++q)
    sum += t->points.flux[q * S + i] * flux[2 * q + (i >= S / 2)];
  return sum;
}

/// g_i, from u and the trace, which the team may read.
KG_INLINE double kg_cell_gradient_coefficient(const kg_cell_tables *t, const double *u,
                                              const double *lambda, int i)
{
  const int N = t->size.n_modes, n = t->size.n_trace;
  const double *const weak = t->weak + (int64_t)i * (N + n);
  double sum = 0.0;
  for (int j = 0; j < N; ++j) sum += weak[j] * u[j];
  for (int j = 0; j < n; ++j) sum += weak[N + j] * lambda[j];
  return sum;
}

/// Element e of the range.
KG_INLINE void kg_cell_recover_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_recover_args *args = (const kg_cell_recover_args *)arguments;
  const kg_cell_tables *t = &args->cells.tables;
  const kg_cell_sizes size = t->size;
  const int N = size.n_modes, S = size.n_flux, m = size.n_facet, n = size.n_trace, p = N + n;
  double *const at_points = team.scratch + kg_cell_geometry_count(t);
  double *const lambda = at_points + 2 * t->points.n, *const column = lambda + n;
  double *const a = column + N + 1, *const u = a + N * (N + 1) / 2;  // its last row
  double *const h = u + N + 1;
  double *const flux = args->material.exact ? h + S * (S + 1) / 2 + 2 * S : at_points;
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args->cells, &args->material, e, team, team.scratch);
  KG_TEAM_EACH(team, c, 0, n)
  {
    const uint32_t side = args->cells.side_edge[kg_cell_at(e, size.n_facets, c / m)];
    lambda[c] = kg_cell_sign(&args->cells, e, c) * args->trace[(int64_t)(side >> 1) * m + c % m];
  }
  kg_cell_put_stabilization(t, &geometry, N, team, a);
  kg_team_wait(team);
  kg_cell_add_mass(t, &geometry, &args->material, e, team, a);
  kg_cell_add_flux(t, &geometry, args->material.exact, N, team, h, a);
  kg_cell_take_flux(args, &geometry, N, p, lambda, false, team, h, flux);
  kg_team_wait(team);
  kg_cell_right_hand_side(args, e, &geometry, lambda, flux, team, u);
  if (team.thread == 0) u[N] = 0.0;
  kg_cell_eliminate(N, N + 1, team, column, a);
  kg_cell_substitute(N, a, team, u);
  kg_cell_take_flux(args, &geometry, 0, N, u, true, team, h, flux);
  KG_TEAM_EACH(team, i, 0, N) args->u[kg_cell_at(e, N, i)] = u[i];
  kg_team_wait(team);
  const int rows = kg_cell_flux_rows(S, args->material.keeps_gradient);
  KG_TEAM_EACH(team, i, 0, rows)
  {
    args->flux[kg_cell_at(e, rows, i)] = i < S ? kg_cell_flux_coefficient(args, flux, i)
                                               : kg_cell_gradient_coefficient(t, u, lambda, i - S);
  }
}

KEDGE_END_DECLS

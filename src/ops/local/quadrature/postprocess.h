/// @file
/// Post-processing by quadrature: u* of order P + 1 with (kappa grad u*, grad w) = (sigma, grad w)
/// for all w of order P + 1 and the mean of u over the element; with material.keeps_gradient
/// (kappa' grad u*, grad w) = (kappa' q, grad w). Its L2 distance to u is the error
/// indicator.
#pragma once
#include "ops/local/quadrature/forms.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_postprocess_args {
  kg_cells cells;             ///< side_edge is not read
  kg_cell_material material;  ///< the diffusion is read
  const double *u;            ///< [group][N][lane]
  const double *flux;         ///< [group][rows][lane]: kg_cell_recover()
  double *u_star;             ///< out: [group][N*][lane]
  double *indicator;          ///< out: [group][lane]: ||u* - u|| of the element
} kg_cell_postprocess_args;

KG_DECLARE_OPERATOR(kg_cell_postprocess, kg_cell_postprocess_args);
kg_cost kg_cell_postprocess_cost(const kg_cell_tables *t, const kg_cell_material *material,
                                 int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_postprocess_scratch(const kg_cell_tables *t)
{
  const int n_star = t->size.n_star;
  return (size_t)(kg_cell_geometry_count(t) + 2 * t->points.n + t->size.n_modes + t->size.n_flux +
                  n_star + n_star * (n_star + 1) / 2);
}

/// u* - u at the points, without the constant mode of u*, from its other modes x.
KG_INLINE void kg_cell_difference(const kg_cell_points *points, const double *u, const double *x,
                                  kg_team team, double *difference)
{
  KG_TEAM_EACH(team, q, 0, points->n)
  {
    const double *const phi = points->value + q * points->size.n_star;
    double d = 0.0;
    for (int i = 1; i < points->size.n_star; ++i) d += phi[i] * x[i - 1];
    for (int i = 0; i < points->size.n_modes; ++i) d -= phi[i] * u[i];
    difference[q] = d;
  }
}

/// The material of u*. Where q is the weak gradient its diffusion has a ratio of a hundred at most,
/// or on curves errors along the strong axis would come into u* times the ratio.
KG_INLINE kg_cell_material kg_cell_star_material(const kg_cell_material *material)
{
  kg_cell_material of = *material;
  of.even = material->keeps_gradient ? 0.01 : 0.0;
  return of;
}

/// What post-processing reads of element e in place of s: g where it is kept.
KG_INLINE void kg_cell_take_fluxes(const kg_cell_postprocess_args *args, int32_t e, kg_team team,
                                   double *s)
{
  const int S = args->cells.tables.size.n_flux;
  const bool keeps_gradient = args->material.keeps_gradient;
  const int rows = kg_cell_flux_rows(S, keeps_gradient), first = keeps_gradient ? S : 0;
  KG_TEAM_EACH(team, i, 0, S) s[i] = args->flux[kg_cell_at(e, rows, first + i)];
}

/// Values of g at points become weight times G g. Waits before and after.
/// @param[in] flux_matrix  [point][3]: weight times G
KG_INLINE void kg_cell_weigh_gradient(const double *flux_matrix, int points, kg_team team,
                                      double *values)
{
  kg_team_wait(team);
  KG_TEAM_EACH(team, q, 0, points)
  {
    const double *const g = flux_matrix + 3 * q;
    const double along = values[2 * q], across = values[2 * q + 1];
    values[2 * q] = g[0] * along + g[1] * across;
    values[2 * q + 1] = g[1] * along + g[2] * across;
  }
  kg_team_wait(team);
}

/// Compute x_i = (s, grad phi_i) for all modes phi_i of order P + 1 but the constant.
/// @param values           work memory for s at the points
/// @param[in] s            coefficients of the flux s or, with `flux_matrix`, of the gradient g
/// @param[in] flux_matrix  NULL, or the matrix G at each point: then s is G g
KG_INLINE void kg_cell_star_load(const kg_cell_tables *t, const double *s,
                                 const double *flux_matrix, double *values, kg_team team, double *x)
{
  const int S = t->size.n_flux, n = t->size.n_star - 1;
  KG_TEAM_EACH(team, k, 0, 2 * t->points.n)
  {
    const double *const flux = t->points.flux + k / 2 * S;
    double sum = 0.0;
    for (int i = k % 2 * S / 2; i < (k % 2 + 1) * S / 2; ++i) sum += flux[i] * s[i];
    values[k] = flux_matrix ? sum : t->points.weight[k / 2] * sum;
  }
  if (flux_matrix) kg_cell_weigh_gradient(flux_matrix, t->points.n, team, values);
  kg_team_wait(team);
  KG_TEAM_EACH(team, i, 0, n)
  {
    double sum = 0.0;
    for (int k = 0; k < 2 * t->points.n; ++k) sum += t->star[k * n + i] * values[k];
    x[i] = sum;
  }
}

/// Element e of the range.
KG_INLINE void kg_cell_postprocess_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_postprocess_args *args = (const kg_cell_postprocess_args *)arguments;
  const kg_cell_tables *t = &args->cells.tables;
  const kg_cell_sizes size = t->size;
  const int N = size.n_modes, S = size.n_flux, n = size.n_star - 1;
  double *const values = team.scratch + kg_cell_geometry_count(t);
  double *const u = values + 2 * t->points.n, *const s = u + N, *const column = s + S;
  double *const a = column + n + 1, *const x = a + n * (n + 1) / 2;  // its last row
  const kg_cell_material material = kg_cell_star_material(&args->material);
  const kg_cell_geometry geometry =
      kg_cell_geometry_make(&args->cells, &material, e, team, team.scratch);
  KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
  kg_cell_take_fluxes(args, e, team, s);
  KG_TEAM_EACH(team, i, 0, n * (n + 1) / 2) a[i] = 0.0;
  kg_team_wait(team);
  kg_cell_add_gradients(&t->points, &geometry, t->star, n, n, team, a);
  const bool keeps_gradient = args->material.keeps_gradient;
  kg_cell_star_load(t, s, keeps_gradient ? geometry.flux_matrix : NULL, values, team, x);
  if (team.thread == 0) x[n] = 0.0;
  kg_cell_eliminate(n, n + 1, team, column, a);
  kg_cell_substitute(n, a, team, x);

  kg_cell_difference(&t->points, u, x, team, values);
  double sum = 0.0, area = 0.0, square = 0.0;
  KG_TEAM_EACH(team, q, 0, t->points.n)
  {
    sum += geometry.jacobian[q] * values[q];
    area += geometry.jacobian[q];
  }
  const double mean = kg_team_sum(sum) / kg_team_sum(area);
  KG_TEAM_EACH(team, q, 0, t->points.n)
  {
    square += geometry.jacobian[q] * (values[q] - mean) * (values[q] - mean);
  }
  square = kg_team_sum(square);
  KG_TEAM_EACH(team, i, 0, n) args->u_star[kg_cell_at(e, n + 1, i + 1)] = x[i];
  if (team.thread == 0) {
    args->u_star[kg_cell_at(e, n + 1, 0)] = -mean / t->points.value[0];
    args->indicator[kg_cell_at(e, 1, 0)] = sqrt(square);
  }
}

KEDGE_END_DECLS

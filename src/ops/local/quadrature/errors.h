/// @file
/// Errors of elements against the exact solution, sampled at the points of any rule: L2 norms of u,
/// q = grad u, u* and the flux sigma = kappa grad u.
#pragma once
#include "ops/sample/errors.h"
#include "ops/local/quadrature/elements.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_errors_args {
  kg_cells cells;                   ///< side_edge is not read
  kg_cell_material material;        ///< the constant diffusion is read: q = kappa^-1 sigma
  kg_cell_points points;            ///< where `exact` was sampled
  int n_diffusion;                  ///< points of diffusion: corners, behind them, have none
  const double *diffusion;          ///< [group][3][n_diffusion][lane]: xx, xy, yy; NULL: constant
  const double *u, *flux, *u_star;  ///< as kg_cell_recover() and kg_cell_postprocess() leave them
  const double *exact;              ///< [group][3][point][lane]: u, u_x, u_y
  kg_error_sums *by_group;          ///< out: [group]; summed in order by the caller
  double *flux_by_group;            ///< out: [group], the squares of the flux; or NULL
} kg_cell_errors_args;

KG_DECLARE_OPERATOR(kg_cell_errors, kg_cell_errors_args);
kg_cost kg_cell_errors_cost(const kg_cell_points *points, int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_errors_scratch(const kg_cell_points *points)
{
  const kg_cell_sizes *size = &points->size;
  return (size_t)(size->n_modes + 2 * size->n_flux + size->n_star + 2 * points->n_nodes);
}

/// The square of the error of sigma where the exact gradient is (x, y).
KG_INLINE double kg_cell_flux_error(const double kappa[3], const double sigma[2], double x,
                                    double y)
{
  const double along = sigma[0] - (kappa[0] * x + kappa[1] * y);
  const double across = sigma[1] - (kappa[1] * x + kappa[2] * y);
  return along * along + across * across;
}

/// Add the errors at point q of an element. @param[in] u, s, star  its coefficients; behind s g
KG_INLINE void kg_cell_errors_point(const kg_cell_errors_args *args, int32_t e, int q,
                                    const kg_cell_place *place, const double *u, const double *s,
                                    const double *star, kg_error_sums *sums, double *flux)
{
  const kg_cell_points *points = &args->points;
  const int n = points->n;
  const double *const phi = points->value + q * points->size.n_star;
  const double exact = args->exact[kg_cell_at(e, 3 * n, q)];
  double value = -exact;
  for (int i = 0; i < points->size.n_modes; ++i) value += phi[i] * u[i];
  sums->u_max = kg_larger(sums->u_max, fabs(value));
  const double w = points->weight[q] * place->jacobian;
  if (w == 0.0) return;  // a corner
  const kg_cell_diffusion diffusion = {
      kg_cell_constant_diffusion(&args->material, e),
      args->diffusion ? args->diffusion + kg_cell_at(e, 3 * args->n_diffusion, 0) : NULL,
      args->n_diffusion, KG_LANES};
  double best = -exact, along[2], sigma[2], gradient[2], kappa[3];
  for (int i = 0; i < points->size.n_star; ++i) best += phi[i] * star[i];
  kg_cell_flux_at(points, q, s, along);
  kg_cell_flux_of(place, along[0], along[1], sigma);
  kg_cell_diffusion_at(&diffusion, q, kappa);
  if (args->material.keeps_gradient) {
    kg_cell_flux_at(points, q, s + points->size.n_flux, along);
    kg_cell_gradient_at(place, along[0], along[1], gradient);
  } else {
    kg_cell_gradient_of(kappa, sigma, gradient);
  }
  const double u_x = args->exact[kg_cell_at(e, 3 * n, n + q)];
  const double u_y = args->exact[kg_cell_at(e, 3 * n, 2 * n + q)];
  const double x = gradient[0] - u_x, y = gradient[1] - u_y;
  sums->u += w * value * value;
  sums->q += w * (x * x + y * y);
  sums->u_star += w * best * best;
  *flux += w * kg_cell_flux_error(kappa, sigma, u_x, u_y);
}

/// Group `group` of the range.
KG_INLINE void kg_cell_errors_group(const void *arguments, int32_t group, kg_team team)
{
  const kg_cell_errors_args *args = (const kg_cell_errors_args *)arguments;
  const kg_cell_points *points = &args->points;
  const int N = points->size.n_modes;
  const int S = kg_cell_flux_rows(points->size.n_flux, args->material.keeps_gradient);
  double *const u = team.scratch, *const s = u + N, *const star = s + S;
  double *const x = star + points->size.n_star, *const y = x + points->n_nodes, flux = 0.0;
  kg_error_sums sums = {0, 0, 0, 0};
  for (int32_t e = group * KG_LANES; e < (group + 1) * KG_LANES && e < args->cells.n_elements;
       ++e) {
    kg_team_wait(team);
    kg_cell_put_nodes(&args->cells, e, team, x, y);
    KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
    KG_TEAM_EACH(team, i, 0, S) s[i] = args->flux[kg_cell_at(e, S, i)];
    KG_TEAM_EACH(team, i, 0, points->size.n_star)
    {
      star[i] = args->u_star[kg_cell_at(e, points->size.n_star, i)];
    }
    kg_team_wait(team);
    KG_TEAM_EACH(team, q, 0, points->n)
    {
      const kg_cell_place place = kg_cell_place_at(points, q, x, y);
      kg_cell_errors_point(args, e, q, &place, u, s, star, &sums, &flux);
    }
  }
  sums.u = kg_team_sum(sums.u);
  sums.q = kg_team_sum(sums.q);
  sums.u_star = kg_team_sum(sums.u_star);
  flux = kg_team_sum(flux);
  for (int offset = KG_TEAM_THREADS / 2; offset > 0; offset /= 2)
    sums.u_max = kg_larger(sums.u_max, kg_team_other(sums.u_max, offset));
  if (team.thread != 0) return;
  args->by_group[group] = sums;
  if (args->flux_by_group) args->flux_by_group[group] = flux;
}

KEDGE_END_DECLS

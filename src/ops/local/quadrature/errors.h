/// @file
/// Errors of elements against the exact solution, sampled at the points of any rule: L2 norms of u,
/// q = grad u and u*.
#pragma once
#include "ops/sample/errors.h"
#include "ops/local/quadrature/elements.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_errors_args {
  kg_cells cells;                   ///< side_edge is not read
  kg_cell_material material;        ///< the diffusion is read: q = kappa^-1 sigma
  kg_cell_points points;            ///< where `exact` was sampled
  const double *u, *flux, *u_star;  ///< as kg_cell_recover() and kg_cell_postprocess() leave them
  const double *exact;              ///< [group][3][point][lane]: u, u_x, u_y
  kg_error_sums *by_group;          ///< out: [group]; summed in order by the caller
} kg_cell_errors_args;

KG_DECLARE_OPERATOR(kg_cell_errors, kg_cell_errors_args);
kg_cost kg_cell_errors_cost(const kg_cell_points *points, int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_errors_scratch(const kg_cell_sizes *size)
{
  return (size_t)(size->n_modes + size->n_flux + size->n_star);
}

/// Add the errors at point q of an element. @param[in] u, s, star  its coefficients
KG_INLINE void kg_cell_errors_point(const kg_cell_errors_args *args, int32_t e, int q,
                                    const kg_cell_place *place, const double *u, const double *s,
                                    const double *star, kg_error_sums *sums)
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
  double best = -exact, along[2], sigma[2], gradient[2];
  for (int i = 0; i < points->size.n_star; ++i) best += phi[i] * star[i];
  kg_cell_flux_at(points, q, s, along);
  kg_cell_flux_of(place, along[0], along[1], sigma);
  kg_cell_gradient_of(args->material.diffusion, sigma, gradient);
  const double x = gradient[0] - args->exact[kg_cell_at(e, 3 * n, n + q)];
  const double y = gradient[1] - args->exact[kg_cell_at(e, 3 * n, 2 * n + q)];
  sums->u += w * value * value;
  sums->q += w * (x * x + y * y);
  sums->u_star += w * best * best;
}

/// Group `group` of the range.
KG_INLINE void kg_cell_errors_group(const void *arguments, int32_t group, kg_team team)
{
  const kg_cell_errors_args *args = (const kg_cell_errors_args *)arguments;
  const kg_cell_points *points = &args->points;
  const int V = points->size.n_facets, N = points->size.n_modes, S = points->size.n_flux;
  double *const u = team.scratch, *const s = u + N, *const star = s + S;
  kg_error_sums sums = {0, 0, 0, 0};
  for (int32_t e = group * KG_LANES; e < (group + 1) * KG_LANES && e < args->cells.n_elements;
       ++e) {
    double x[KG_FACETS_MAX], y[KG_FACETS_MAX];
    kg_cell_corners(&args->cells, e, x, y);
    kg_team_wait();
    KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
    KG_TEAM_EACH(team, i, 0, S) s[i] = args->flux[kg_cell_at(e, S, i)];
    KG_TEAM_EACH(team, i, 0, points->size.n_star)
    {
      star[i] = args->u_star[kg_cell_at(e, points->size.n_star, i)];
    }
    kg_team_wait();
    KG_TEAM_EACH(team, q, 0, points->n)
    {
      const kg_cell_place place = kg_cell_place_of(V, points->map + 3 * q * V, x, y);
      kg_cell_errors_point(args, e, q, &place, u, s, star, &sums);
    }
  }
  sums.u = kg_team_sum(sums.u);
  sums.q = kg_team_sum(sums.q);
  sums.u_star = kg_team_sum(sums.u_star);
  for (int offset = KG_TEAM_THREADS / 2; offset > 0; offset /= 2)
    sums.u_max = kg_larger(sums.u_max, kg_team_other(sums.u_max, offset));
  if (team.thread == 0) args->by_group[group] = sums;
}

KEDGE_END_DECLS

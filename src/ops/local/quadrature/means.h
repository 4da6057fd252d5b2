/// @file
/// Means of u and q = grad u over elements: what remains of a solution that keeps only means. On
/// elements that are no parallelograms more modes than the constant one have a mean.
#pragma once
#include "ops/local/quadrature/elements.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_means_args {
  kg_cells cells;             ///< side_edge is not read
  kg_cell_material material;  ///< the diffusion is read
  const double *u;            ///< [group][N][lane]
  const double *flux;         ///< [group][S][lane]: kg_cell_recover()
  /// out: [group][3][lane]: coefficients of the constant mode of functions that have the means of
  /// u, q_x and q_y, and no other mode
  double *constant;
} kg_cell_means_args;

KG_DECLARE_OPERATOR(kg_cell_means, kg_cell_means_args);
kg_cost kg_cell_means_cost(const kg_cell_tables *t, int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_means_scratch(const kg_cell_sizes *size)
{
  return (size_t)(size->n_modes + size->n_flux);
}

/// Means of u, q_x and q_y.
/// @param[in] x, y     corners
/// @param[in] u, flux  coefficients of the element
KG_INLINE void kg_cell_means_of(const kg_cell_points *rule, const double kappa[3], const double *x,
                                const double *y, const double *u, const double *flux, kg_team team,
                                double means[3])
{
  const int V = rule->size.n_facets, N = rule->size.n_modes, n_star = rule->size.n_star;
  double area = 0.0, integral = 0.0, sigma[2] = {0.0, 0.0};
  KG_TEAM_EACH(team, q, 0, rule->n)
  {
    const kg_cell_place at = kg_cell_place_of(V, rule->map + 3 * q * V, x, y);
    const double w = rule->weight[q] * at.jacobian;
    double value = 0.0, along[2], here[2];
    for (int i = 0; i < N; ++i) value += rule->value[q * n_star + i] * u[i];
    kg_cell_flux_at(rule, q, flux, along);
    kg_cell_flux_of(&at, along[0], along[1], here);
    area += w;
    integral += w * value;
    sigma[0] += w * here[0];
    sigma[1] += w * here[1];
  }
  area = kg_team_sum(area);
  means[0] = kg_team_sum(integral) / area;
  sigma[0] = kg_team_sum(sigma[0]) / area;
  sigma[1] = kg_team_sum(sigma[1]) / area;
  kg_cell_gradient_of(kappa, sigma, means + 1);
}

/// Element e of the range.
KG_INLINE void kg_cell_means_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_means_args *args = (const kg_cell_means_args *)arguments;
  const kg_cell_points *rule = &args->cells.tables.points;
  const int N = rule->size.n_modes, S = rule->size.n_flux;
  double *const u = team.scratch, *const flux = u + N;
  double x[KG_FACETS_MAX], y[KG_FACETS_MAX], means[3];
  kg_cell_corners(&args->cells, e, x, y);
  kg_team_wait();
  KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
  KG_TEAM_EACH(team, i, 0, S) flux[i] = args->flux[kg_cell_at(e, S, i)];
  kg_team_wait();
  kg_cell_means_of(rule, args->material.diffusion, x, y, u, flux, team, means);
  KG_TEAM_EACH(team, k, 0, 3) args->constant[kg_cell_at(e, 3, k)] = means[k] / rule->value[0];
}

KEDGE_END_DECLS

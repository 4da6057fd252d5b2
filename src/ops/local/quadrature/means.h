/// @file
/// Means of u, q = grad u and sigma over elements: what remains of a solution that keeps only
/// means. On elements that are no parallelograms or straight triangles more modes than the constant
/// one have a mean.
#pragma once
#include "ops/local/quadrature/elements.h"
KEDGE_BEGIN_DECLS

enum { KG_CELL_MEANS = 5 };

typedef struct kg_cell_means_args {
  kg_cells cells;             ///< side_edge is not read
  kg_cell_material material;  ///< the diffusion is read
  const double *u;            ///< [group][N][lane]
  const double *flux;         ///< [group][rows][lane]: kg_cell_recover()
  /// out: [group][KG_CELL_MEANS][lane]: coefficients of the constant mode of functions that have
  /// the means of u, q_x, q_y, sigma_x and sigma_y, and no other mode
  double *constant;
} kg_cell_means_args;

KG_DECLARE_OPERATOR(kg_cell_means, kg_cell_means_args);
kg_cost kg_cell_means_cost(const kg_cell_tables *t, const kg_cell_material *material,
                           int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_means_scratch(const kg_cell_points *rule)
{
  return (size_t)(rule->size.n_modes + 2 * rule->size.n_flux + 2 * rule->n_nodes);
}

/// Means of u, q_x, q_y, sigma_x and sigma_y.
/// @param[in] diffusion  at the points of the rule
/// @param[in] x, y       nodes
/// @param[in] u, flux    coefficients of the element
/// @param[in] g          coefficients of the weak gradient, which q is; or NULL
KG_INLINE void kg_cell_means_of(const kg_cell_points *rule, const kg_cell_diffusion *diffusion,
                                const double *x, const double *y, const double *u,
                                const double *flux, const double *g, kg_team team,
                                double means[KG_CELL_MEANS])
{
  const int N = rule->size.n_modes, n_star = rule->size.n_star;
  double area = 0.0, integral = 0.0, gradient[2] = {0.0, 0.0}, sigma[2] = {0.0, 0.0};
  KG_TEAM_EACH(team, q, 0, rule->n)
  {
    const kg_cell_place at = kg_cell_place_at(rule, q, x, y);
    const double w = rule->weight[q] * at.jacobian;
    double value = 0.0, along[2], here[2], kappa[3];
    for (int i = 0; i < N; ++i) value += rule->value[q * n_star + i] * u[i];
    kg_cell_flux_at(rule, q, flux, along);
    kg_cell_flux_of(&at, along[0], along[1], here);
    area += w;
    integral += w * value;
    for (int k = 0; k < 2; ++k) sigma[k] += w * here[k];
    if (!g && !diffusion->values) continue;  // q is that of the mean of sigma
    if (g) {
      kg_cell_flux_at(rule, q, g, here);
      kg_cell_gradient_at(&at, here[0], here[1], along);
    } else {
      kg_cell_diffusion_at(diffusion, q, kappa);
      kg_cell_gradient_of(kappa, here, along);
    }
    for (int k = 0; k < 2; ++k) gradient[k] += w * along[k];
  }
  area = kg_team_sum(area);
  means[0] = kg_team_sum(integral) / area;
  for (int k = 0; k < 2; ++k) means[1 + k] = kg_team_sum(gradient[k]) / area;
  for (int k = 0; k < 2; ++k) means[3 + k] = kg_team_sum(sigma[k]) / area;
  if (!g && !diffusion->values) kg_cell_gradient_of(diffusion->constant, means + 3, means + 1);
}

/// Element e of the range.
KG_INLINE void kg_cell_means_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_means_args *args = (const kg_cell_means_args *)arguments;
  const kg_cell_points *rule = &args->cells.tables.points;
  const bool keeps_gradient = args->material.keeps_gradient;
  const int N = rule->size.n_modes, S = kg_cell_flux_rows(rule->size.n_flux, keeps_gradient);
  double *const u = team.scratch, *const flux = u + N;
  double *const x = flux + S, *const y = x + rule->n_nodes, means[KG_CELL_MEANS];
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(&args->cells.tables, &args->material, e);
  kg_cell_put_nodes(&args->cells, e, team, x, y);
  KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
  KG_TEAM_EACH(team, i, 0, S) flux[i] = args->flux[kg_cell_at(e, S, i)];
  kg_team_wait(team);
  kg_cell_means_of(rule, &diffusion, x, y, u, flux,
                   keeps_gradient ? flux + rule->size.n_flux : NULL, team, means);
  KG_TEAM_EACH(team, k, 0, KG_CELL_MEANS)
  args->constant[kg_cell_at(e, KG_CELL_MEANS, k)] = means[k] / rule->value[0];
}

KEDGE_END_DECLS

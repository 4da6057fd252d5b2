/// @file
/// Geometry and coefficients at all points of an element, made by a team in scratch.
#pragma once
#include "ops/local/quadrature/elements.h"

typedef struct kg_cell_geometry {
  double *x, *y;        ///< [node]
  double *flux_matrix;  ///< [point][3]: weight times G
  double *jacobian;     ///< [point]: weight times J
  double *along;        ///< [facet][row]: what kg_cell_put_along() leaves
  double *tau;          ///< [facet]: t_l = tau_l |l| / 2
} kg_cell_geometry;

/// Doubles of scratch of a geometry.
KG_INLINE int kg_cell_geometry_count(const kg_cell_tables *t)
{
  return 4 * t->points.n + 2 * t->points.n_nodes + t->size.n_facets * (t->rows + 1);
}

/// Whether t_l takes integrals along the facets.
KG_INLINE bool kg_cell_has_curves(const kg_cells *cells, const kg_cell_material *material)
{
  return cells->tables.points.geometry > 1 || material->length > 0.0;
}

/// The part of point k of the facets, counted through all, in |l| or, where the stabilization
/// follows the diffusion, in the integral of n . kappa n along the facet.
KG_INLINE double kg_cell_along(const kg_cell_tables *t, const kg_cell_material *material,
                               const kg_cell_diffusion *diffusion, int k, const double *x,
                               const double *y)
{
  const double *const direction = t->facet_direction + k / t->rows * 2;
  const kg_cell_place at = kg_cell_place_at(&t->points, t->points.n + k, x, y);
  const double dx = at.x_r * direction[0] + at.x_s * direction[1];
  const double dy = at.y_r * direction[0] + at.y_s * direction[1];
  double part = sqrt(dx * dx + dy * dy), kappa[3];
  if (material->length > 0.0) {
    kg_cell_diffusion_at(diffusion, t->points.n + k, kappa);
    part = (dy * dy * kappa[0] - 2.0 * dx * dy * kappa[1] + dx * dx * kappa[2]) / part;
  }
  return t->facet_weight[k % t->rows] * part;
}

KG_INLINE void kg_cell_put_along(const kg_cell_tables *t, const kg_cell_material *material,
                                 const kg_cell_diffusion *diffusion, kg_team team,
                                 kg_cell_geometry *geometry)
{
  KG_TEAM_EACH(team, k, 0, t->size.n_facets * t->rows)
  geometry->along[k] = kg_cell_along(t, material, diffusion, k, geometry->x, geometry->y);
}

/// t_l of a facet with ends at a distance of dx, dy.
/// @param[in] integral  of what kg_cell_along() gives; read where kg_cell_has_curves()
KG_INLINE double kg_cell_tau_of(const kg_cells *cells, const kg_cell_material *material, double dx,
                                double dy, double integral)
{
  double square = dx * dx + dy * dy;
  if (kg_cell_has_curves(cells, material)) {
    if (material->length > 0.0) return 0.5 * integral / material->length;
    square = integral * integral;
  }
  return 0.5 * material->stabilization * kg_tau_scale(material->scaling, square);
}

/// t_l of facet l, which runs from corner l to the next.
KG_INLINE double kg_cell_tau(const kg_cells *cells, const kg_cell_material *material, int l,
                             const kg_cell_geometry *geometry)
{
  const int rows = cells->tables.rows, V = cells->tables.size.n_facets;
  const double *const x = geometry->x, *const y = geometry->y;
  const int next = l + 1 < V ? l + 1 : 0;
  double integral = 0.0;
  if (kg_cell_has_curves(cells, material))
    for (int k = 0; k < rows; ++k) integral += geometry->along[l * rows + k];
  return kg_cell_tau_of(cells, material, x[next] - x[l], y[next] - y[l], integral);
}

/// Compute t_l of facet l of element e by one thread, without a geometry in scratch.
KG_INLINE double kg_cell_tau_alone(const kg_cells *cells, const kg_cell_material *material,
                                   int32_t e, int l)
{
  const kg_cell_tables *const t = &cells->tables;
  const int rows = t->rows, V = t->size.n_facets, next = l + 1 < V ? l + 1 : 0;
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(t, material, e);
  double x[KG_NODES_MAX], y[KG_NODES_MAX], integral = 0.0;
  kg_cell_read_nodes(cells, e, x, y);
  if (kg_cell_has_curves(cells, material))
    for (int k = l * rows; k < (l + 1) * rows; ++k)
      integral += kg_cell_along(t, material, &diffusion, k, x, y);
  return kg_cell_tau_of(cells, material, x[next] - x[l], y[next] - y[l], integral);
}

/// The geometry of element e, in `scratch`, which the team may read.
KG_INLINE kg_cell_geometry kg_cell_geometry_make(const kg_cells *cells,
                                                 const kg_cell_material *material, int32_t e,
                                                 kg_team team, double *scratch)
{
  const kg_cell_tables *t = &cells->tables;
  const kg_cell_points *points = &t->points;
  const int n = points->n;
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(t, material, e);
  double *const x = scratch + 4 * n, *const y = x + points->n_nodes;
  double *const along = y + points->n_nodes;
  kg_cell_geometry out = {
      x, y, scratch, scratch + 3 * n, along, along + t->size.n_facets * t->rows};
  double g[3], kappa[3];
  kg_cell_put_nodes(cells, e, team, x, y);
  kg_team_wait(team);
  if (kg_cell_has_curves(cells, material)) kg_cell_put_along(t, material, &diffusion, team, &out);
  KG_TEAM_EACH(team, q, 0, n)
  {
    const kg_cell_place place = kg_cell_place_at(points, q, x, y);
    kg_cell_diffusion_at(&diffusion, q, kappa);
    if (material->even > 0.0) {
      const double more = material->even * (kappa[0] + kappa[2]);
      kappa[0] += more;
      kappa[2] += more;
    }
    kg_cell_flux_matrix(&place, kappa, g);
    for (int k = 0; k < 3; ++k) out.flux_matrix[3 * q + k] = points->weight[q] * g[k];
    out.jacobian[q] = points->weight[q] * place.jacobian;
  }
  kg_team_wait(team);
  KG_TEAM_EACH(team, l, 0, t->size.n_facets) out.tau[l] = kg_cell_tau(cells, material, l, &out);
  kg_team_wait(team);
  return out;
}

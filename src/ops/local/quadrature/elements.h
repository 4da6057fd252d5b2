/// @file
/// Data of elements that operators by quadrature read, and of a point of an element: any shape,
/// straight or curved, through the same code (docs/math.md#cells).
///
/// With F = dx/dr, J = det F, the flux is sigma = F s / J, s = sum_i s_i Phi_i, and its partner the
/// covariant gradient F^T grad u. Geometry and diffusion meet in G = adj(F) kappa adj(F)^T / J, a
/// symmetric 2 x 2 matrix at each point.
#pragma once
#include "ops/local/quadrature/coefficients.h"
#include "ops/local/quadrature/team.h"
#include "ops/ops.h"

/// A range of whole groups of elements of one shape, order and geometry order. All arrays of the
/// range, here and in the arguments of operators, begin at its first group.
typedef struct kg_cells {
  kg_cell_tables tables;   ///< of which the points have the geometry order
  int32_t n_elements;      ///< of the range; lanes behind the last repeat it
  const double *vertices;  ///< [vertex][2]; read where the geometry has order 1
  const int32_t *vertex;   ///< [group][corner][lane], counterclockwise; convex
  const double *nodes;     ///< [group][2][node][lane]: x, then y; read from geometry order 2 on
  /// [group][facet][lane]: trace facet << 1 | reversed; read where the trace is
  const uint32_t *side_edge;
} kg_cells;

KG_INLINE int32_t kg_cells_groups(const kg_cells *cells)
{
  return (cells->n_elements + KG_LANES - 1) / KG_LANES;
}

/// Groups first_group, first_group + 1, ... of a range, n_groups or as many as there are, as a
/// range of its own.
KG_INLINE kg_cells kg_cells_part(const kg_cells *cells, int32_t first_group, int32_t n_groups)
{
  const int64_t sides = (int64_t)first_group * cells->tables.size.n_facets * KG_LANES;
  const int32_t left = cells->n_elements - first_group * KG_LANES, all = n_groups * KG_LANES;
  kg_cells part = *cells;
  part.n_elements = left < all ? left : all;
  if (part.vertex) part.vertex += sides;
  if (part.nodes) part.nodes += (int64_t)first_group * 2 * cells->tables.points.n_nodes * KG_LANES;
  if (part.side_edge) part.side_edge += sides;
  return part;
}

/// Node v of an element.
KG_INLINE void kg_cell_node(const kg_cells *cells, int32_t e, int v, double *x, double *y)
{
  const int n = cells->tables.points.n_nodes;
  const bool straight = cells->tables.points.geometry == 1;
  const int64_t vertex = straight ? cells->vertex[kg_cell_at(e, n, v)] : 0;
  *x = straight ? cells->vertices[2 * vertex] : cells->nodes[kg_cell_at(e, 2 * n, v)];
  *y = straight ? cells->vertices[2 * vertex + 1] : cells->nodes[kg_cell_at(e, 2 * n, n + v)];
}

/// The nodes of an element, x and y: in scratch, where others may read them after kg_team_wait().
KG_INLINE void kg_cell_put_nodes(const kg_cells *cells, int32_t e, kg_team team, double *x,
                                 double *y)
{
  KG_TEAM_EACH(team, v, 0, cells->tables.points.n_nodes) kg_cell_node(cells, e, v, x + v, y + v);
}
/// Read the nodes of an element by one thread alone.
KG_INLINE void kg_cell_read_nodes(const kg_cells *cells, int32_t e, double *x, double *y)
{
  for (int v = 0; v < cells->tables.points.n_nodes; ++v) kg_cell_node(cells, e, v, x + v, y + v);
}

/// A point of an element.
typedef struct kg_cell_place {
  double x, y;
  double x_r, x_s, y_r, y_s;  ///< F
  double jacobian;            ///< J
} kg_cell_place;

/// @param[in] map   [3][node], `step` apart: kg_cell_points.map of the point
/// @param[in] x, y  nodes, n of them
KG_INLINE kg_cell_place kg_cell_place_of(int n, const double *map, int step, const double *x,
                                         const double *y)
{
  kg_cell_place p = {0, 0, 0, 0, 0, 0, 0};
  for (int v = 0; v < n; ++v) {
    const double value = map[v * step], by_r = map[(n + v) * step], by_s = map[(2 * n + v) * step];
    p.x += value * x[v];
    p.y += value * y[v];
    p.x_r += by_r * x[v];
    p.y_r += by_r * y[v];
    p.x_s += by_s * x[v];
    p.y_s += by_s * y[v];
  }
  p.jacobian = p.x_r * p.y_s - p.x_s * p.y_r;
  return p;
}

/// A point of those of a table.
KG_INLINE kg_cell_place kg_cell_place_at(const kg_cell_points *points, int q, const double *x,
                                         const double *y)
{
#ifdef __CUDA_ARCH__  // threads of a warp have neighbouring points
  return kg_cell_place_of(points->n_nodes, points->map_by_point + q, points->n_map, x, y);
#else
  return kg_cell_place_of(points->n_nodes, points->map + 3 * q * points->n_nodes, 1, x, y);
#endif
}

/// G: rr, rs, ss.
KG_INLINE void kg_cell_flux_matrix(const kg_cell_place *p, const double kappa[3], double g[3])
{
  const double per_j = 1.0 / p->jacobian, xx = kappa[0], xy = kappa[1], yy = kappa[2];
  g[0] = per_j * (p->y_s * p->y_s * xx - 2.0 * p->x_s * p->y_s * xy + p->x_s * p->x_s * yy);
  g[1] = per_j *
         (-p->y_s * p->y_r * xx + (p->y_s * p->x_r + p->x_s * p->y_r) * xy - p->x_s * p->x_r * yy);
  g[2] = per_j * (p->y_r * p->y_r * xx - 2.0 * p->x_r * p->y_r * xy + p->x_r * p->x_r * yy);
}

/// s at point q: the sums of the flux functions along r and along s.
KG_INLINE void kg_cell_flux_at(const kg_cell_points *points, int q, const double *s, double at[2])
{
  const int S = points->size.n_flux;
  const double *const flux = points->flux + q * S;
  at[0] = 0.0;
  at[1] = 0.0;
  for (int i = 0; i < S / 2; ++i) {
    at[0] += flux[i] * s[i];
    at[1] += flux[S / 2 + i] * s[S / 2 + i];
  }
}

/// sigma = F s / J, with s at the point: what output and errors make of coefficients of the flux.
KG_INLINE void kg_cell_flux_of(const kg_cell_place *p, double s_r, double s_s, double sigma[2])
{
  sigma[0] = (p->x_r * s_r + p->x_s * s_s) / p->jacobian;
  sigma[1] = (p->y_r * s_r + p->y_s * s_s) / p->jacobian;
}

/// q = grad u = kappa^-1 sigma.
KG_INLINE void kg_cell_gradient_of(const double kappa[3], const double sigma[2], double q[2])
{
  const double per_det = 1.0 / (kappa[0] * kappa[2] - kappa[1] * kappa[1]);
  q[0] = per_det * (kappa[2] * sigma[0] - kappa[1] * sigma[1]);
  q[1] = per_det * (kappa[0] * sigma[1] - kappa[1] * sigma[0]);
}

/// q = F^-T g, of the weak gradient g at the point, which is covariant.
KG_INLINE void kg_cell_gradient_at(const kg_cell_place *p, double g_r, double g_s, double q[2])
{
  q[0] = (p->y_s * g_r - p->y_r * g_s) / p->jacobian;
  q[1] = (p->x_r * g_s - p->x_s * g_r) / p->jacobian;
}

/// -1 for the odd modes of a facet that its element sees reversed; of trace unknown a of element e.
KG_INLINE double kg_cell_sign(const kg_cells *cells, int32_t e, int a)
{
  const int m = cells->tables.size.n_facet;
  return kg_side_sign(cells->side_edge[kg_cell_at(e, cells->tables.size.n_facets, a / m)], a % m);
}

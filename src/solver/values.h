/// @file
/// Values of a solution at points of its elements. Elements are in the mesh's numbering.
#pragma once
#include "basis/cell_tables.h"
#include "solver/solution.h"

/// Points of an element of each shape that the mesh has, with the tables of the solution's order.
typedef struct kg_element_points {
  kg_cell_points points[KG_BLOCKS_MAX];  ///< by shape; what the mesh does not have is zero
  double *values[KG_BLOCKS_MAX];         ///< owned, behind them
} kg_element_points;

/// The nodes of Lagrange elements of an order, 1 to KEDGE_ORDER_MAX + 1.
kedge_status kg_nodes_create(const kedge_solution *solution, int order, kg_element_points *out);
/// A rule of so many points a direction, at most KG_GAUSS_MAX; kg_cell_rows() integrate u, u* and
/// q.
kedge_status kg_rule_create(const kedge_solution *solution, int rows, kg_element_points *out);
void kg_element_points_free(kg_element_points *points);

/// Find the points of an element's shape.
const kg_cell_points *kg_points_of(const kedge_solution *solution, const kg_element_points *points,
                                   int32_t element);

/// Points [first, first + n) of these.
kg_cell_points kg_points_part(const kg_cell_points *points, int first, int n);

/// Write where the points of an element lie: x, y of a point in xy[stride * point + 0, 1].
void kg_place_points(const kedge_solution *solution, const kg_cell_points *points, int32_t element,
                     int stride, double *xy);

/// The weights of the points of an element: sums of weight times value are integrals over it.
void kg_weigh_points(const kedge_solution *solution, const kg_cell_points *points, int32_t element,
                     double *weight);

/// A field of which all modes are kept, at the points of an element: [point].
void kg_field_at(const kedge_solution *solution, const kg_cell_points *points, kedge_field field,
                 int32_t element, double *values);

/// Diffusion xx, xy, yy in the problem's units at the points of an element, of which there are at
/// most (KEDGE_ORDER_MAX + 3)^2.
/// @param[out] value  [4][points->n]; the last row is work
void kg_diffusion_at(const kedge_solution *solution, const kg_cell_points *points, int32_t element,
                     double *value);

/// The mean of a field over an element.
/// @param[in] rule  its points; read where all modes are kept
double kg_field_mean(const kedge_solution *solution, const kg_cell_points *rule, kedge_field field,
                     int32_t element);

/// Whether solutions that a problem takes as data are of its mesh, and have kept their fields.
/// @param[in] result  that is overwritten meanwhile, which is refused; NULL: a new one
/// @retval KEDGE_ERR_INPUT  one is not, or has not
kedge_status kg_fields_check(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_resolved *resolved, const kedge_solution *result);

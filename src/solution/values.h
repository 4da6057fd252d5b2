/// @file
/// Values of a solution at points of its elements. Elements are in the mesh's numbering.
#pragma once
#include <math.h>

#include "basis/cell_tables.h"
#include "expression/program.h"
#include "ops/sample/node_values.h"
#include "solution/solution.h"

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

/// Write the corners of an element, of a curved one all nodes of its map.
/// @return how many there are
int kg_nodes_of(const kedge_mesh *mesh, int32_t element, double x[KG_NODES_MAX],
                double y[KG_NODES_MAX]);

/// Write where the points of an element lie: x, y of a point in xy[stride * point + 0, 1].
void kg_place_points(const kedge_solution *solution, const kg_cell_points *points, int32_t element,
                     int stride, double *xy);

/// Refuse what a solution cannot tell that keeps its report alone, or, not full, means alone.
/// @param[in] call  the name of the function, for the sentence
kedge_status kg_solution_check_kept(const kedge_solution *solution, const char *call);
kedge_status kg_solution_check_full(const kedge_solution *solution, const char *call);

/// Prepare to evaluate a field: bring it; q and sigma may need diffusion on the host.
kedge_status kg_field_prepare(const kedge_solution *solution, kedge_field field);

/// A field of which all modes are kept, at the points of an element: [point].
void kg_field_at(const kedge_solution *solution, const kg_cell_points *points, kedge_field field,
                 int32_t element, double *values);

/// The mean of a field over an element.
/// @param[in] rule  its points; read where all modes are kept
double kg_field_mean(const kedge_solution *solution, const kg_cell_points *rule, kedge_field field,
                     int32_t element);

// Values on the device (device_values.c).

/// In place of an order of nodes: the mean, which the constant mode has on triangles.
enum { KG_MEANS = 0 };

/// The value of the constant mode: modes are orthonormal on the reference element.
static inline double kg_constant_mode(const kg_cell *cell)
{
  return cell == &kg_triangle ? sqrt(0.5) : 0.5;
}

/// Where the modes of u, q and u* lie.
kg_held_field kg_held_of(kedge_field field);
/// What makes values of a field of a batch, all but `basis`, `from` and `to`.
/// @param[in] origin  of kg_caller_order_upload()
kg_node_values_args kg_node_args(const kedge_solution *solution, int batch, kedge_field field,
                                 int order, const int32_t *origin);
/// Write `basis` to its place on the device: [nodes][N*].
kedge_status kg_node_table(const kedge_solution *solution, int batch, int order, double *table);
/// Make values of a field on the device, where it is and the host has it not, and bring these.
/// @param[in]  order   of the nodes, or KG_MEANS
/// @param[out] values  as of kedge_solution_values()
/// @param[out] made    false: they are to be made on the host, from modes that are brought
kedge_status kg_values_there(const kedge_solution *solution, kedge_field field, int order,
                             double *values, bool *made);

// Errors by a rule of any number of points (squares.c), group by group: 32 neighbours of a batch.

/// Squares of L2 norms; `energy` is the integral of q times the flux.
typedef struct kg_squares {
  double u, u_star, q, sigma, energy;
} kg_squares;

/// All modes of the solution are in host memory; nothing is owned but what open makes.
typedef struct kg_measure {
  const kedge_solution *solution;
  const kg_function *exact[3];  ///< u, u_x, u_y
  kg_program program;           ///< of all three; no results: they are evaluated one by one
  kg_element_points rule;
  int n_points, n_parts;  ///< of an element; into which they are cut
  double *memory;         ///< of the threads
} kg_measure;

/// @param[in]  rows  points a direction, at most KG_GAUSS_MAX
/// @param[out] m     kg_measure_close(), also after a failure
kedge_status kg_measure_open(const kedge_solution *solution, const kedge_problem *problem, int rows,
                             kg_measure *m);
void kg_measure_close(kg_measure *m);

/// Add what part 0 .. n_parts - 1 of the points has in the elements of a group. Threads may do so
/// side by side.
/// @param[in,out] error, exact  of the errors; of the exact solution
void kg_measure_part(const kg_measure *m, int32_t group, int part, kg_squares *error,
                     kg_squares *exact);
/// For kg_loop_threads(): the work of a part.
int64_t kg_measure_work(const kg_measure *m);

void kg_squares_add(const kg_squares *part, kg_squares *sum);

/// Whether solutions that a problem takes as data are of its mesh, and have kept their fields,
/// which are brought to the host.
/// @param[in] result  that is overwritten meanwhile, which is refused; NULL: a new one
/// @retval KEDGE_ERR_INPUT  one is not, or has not
kedge_status kg_fields_check(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_resolved *resolved, const kedge_solution *result);

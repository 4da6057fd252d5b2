/// @file
/// Evaluation of a solution at points of its elements. Elements have the numbers of the mesh.
#pragma once
#include <math.h>

#include "basis/cell_tables.h"
#include "expression/program.h"
#include "ops/sample/node_values.h"
#include "solution/solution.h"

/// Points of an element of each shape that the mesh has, with the tables of the solution's order.
typedef struct kg_element_points {
  kg_cell_points points[KG_CELL_KINDS];  ///< by shape; what the mesh does not have is zero
  double *values[KG_CELL_KINDS];         ///< owned, behind them
  /// Nodes of tetrahedra whose volume is negative as their corners are sorted: the last two corners
  /// are exchanged, so that VTK finds it positive. Of rules n is 0: their points have no order.
  kg_cell_points mirrored;
  double *mirrored_values;  ///< owned
} kg_element_points;

/// The nodes of Lagrange elements of an order, 1 to KEDGE_ORDER_MAX + 1.
kedge_status kg_nodes_create(const kedge_solution *solution, int order, kg_element_points *out);
/// Make a Gauss quadrature rule with `rows` points in each direction, at most KG_GAUSS_MAX.
/// kg_cell_rows() points are enough to integrate u, u* and q.
kedge_status kg_rule_create(const kedge_solution *solution, int rows, kg_element_points *out);
void kg_element_points_free(kg_element_points *points);

/// Whether the determinant of a tetrahedron's map is negative: VTK wants its last two corners
/// exchanged.
bool kg_is_mirrored(const kedge_mesh *mesh, int32_t element);

/// Find the points of an element's shape.
const kg_cell_points *kg_points_of(const kedge_solution *solution, const kg_element_points *points,
                                   int32_t element);

/// Return points [first, first + n) of a set of points.
kg_cell_points kg_points_part(const kg_cell_points *points, int first, int n);

/// Write the coordinates of an element's corners or, for a curved element, of all nodes of its map.
/// @return the number of corners or nodes
int kg_nodes_of(const kedge_mesh *mesh, int32_t element, double x[KG_NODES_MAX],
                double y[KG_NODES_MAX]);

/// Write where the points of an element lie: x, y of a point in xy[stride * point + 0, 1], in space
/// z behind them.
void kg_place_points(const kedge_solution *solution, const kg_cell_points *points, int32_t element,
                     int stride, double *xy);

/// kg_solution_check_kept() fails if the solution keeps only its report, and no fields.
/// kg_solution_check_full() also fails if the solution keeps means over elements, not all modes.
/// @param[in] call  the name of the calling function, for the error message
kedge_status kg_solution_check_kept(const kedge_solution *solution, const char *call);
kedge_status kg_solution_check_full(const kedge_solution *solution, const char *call);

/// Prepare to evaluate a field: bring it; q and sigma may need diffusion on the host.
kedge_status kg_field_prepare(const kedge_solution *solution, kedge_field field);

/// A field of which all modes are kept, at the points of an element: [point].
void kg_field_at(const kedge_solution *solution, const kg_cell_points *points, kedge_field field,
                 int32_t element, double *values);

/// As kg_field_at(), from coefficients that may lie anywhere.
/// @param[in] coefficients  of the element, those of kg_held_of(field), KG_LANES from one another
void kg_field_of(const kedge_solution *solution, const kg_cell_points *points, kedge_field field,
                 int32_t element, const double *coefficients, double *values);

enum {
  KG_STAR_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2),
  KG_FLUX_MAX = 2 * (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2)
};

/// How many fields solutions on a mesh have.
static inline int kg_mesh_fields(const kedge_mesh *mesh)
{
  return kg_mesh_in_space(mesh) ? KEDGE_FIELD_COUNT : KEDGE_FIELD_COUNT_PLANE;
}

/// Tables of one point, as kg_field_at() reads them; they point into themselves.
typedef struct kg_point_tables {
  double at[3];
  kg_cell_points points;
  double map[3 * KG_NODES_MAX], value[KG_STAR_MAX], flux[KG_FLUX_MAX];
} kg_point_tables;

/// Make the tables of a point of a shape.
/// @param[in] scalar  only u and u* are evaluated, which need the modes alone
/// @param[in] at      [dimension]: r, s and, in space, t
void kg_point_tables_fill(const kedge_solution *solution, const kg_cell *cell, bool scalar,
                          const double *at, kg_point_tables *tables);

/// Whether diffusion may differ inside of an element.
bool kg_diffusion_varies(const kedge_solution *solution);
/// Diffusion at a point of a tetrahedron times a vector.
/// @param[in] at  in the reference shape
void kg_diffusion_turn(const kedge_solution *solution, int32_t element, const double at[3],
                       const double from[3], double out[3]);

/// Return the mean of a field over an element.
/// @param[in] rule  quadrature points of the element; read only if the solution keeps all modes
double kg_field_mean(const kedge_solution *solution, const kg_cell_points *rule, kedge_field field,
                     int32_t element);

// Values on the device (device_values.c).

/// In place of an order of nodes: the mean, which the constant mode has on triangles.
enum { KG_MEANS = 0 };

/// The value of the constant mode: modes are orthonormal on the reference element.
static inline double kg_constant_mode(const kg_cell *cell)
{
  return cell == &kg_triangle ? sqrt(0.5) : cell == &kg_quadrilateral ? 0.5 : sqrt(0.75);
}

/// Where the modes of u, q and u* lie.
kg_held_field kg_held_of(kedge_field field);
/// Return the arguments for evaluating a field of a batch at nodes on the device. The caller sets
/// `basis`, `from` and `to`.
/// @param[in] origin  array from kg_caller_order_upload(): caller's number of each element
kg_node_values_args kg_node_args(const kedge_solution *solution, int batch, kedge_field field,
                                 int order, const int32_t *origin);
/// Write the table `basis` of kg_node_args() to device memory: [nodes][N*].
kedge_status kg_node_table(const kedge_solution *solution, int batch, int order, double *table);
/// Evaluate a field at nodes on the device and copy the values to the host. This is done only if
/// the field is on the device and has no current copy on the host.
/// @param[in]  order   polynomial order of the nodes, or KG_MEANS for means over elements
/// @param[out] values  in the layout of kedge_solution_values()
/// @param[out] made    false: nothing was written; the caller evaluates the modes on the host
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
  kg_function exact[3];  ///< u, u_x, u_y, the problem's at the time of the solution; borrowed
  kg_program program;    ///< of all three; no results: they are evaluated one by one
  kg_element_points rule;
  int n_points, n_parts;  ///< of an element; into which they are cut
  double *memory;         ///< of the threads
} kg_measure;

/// Prepare to integrate the errors of a solution against the problem's exact solution.
/// @param[in]  rows  quadrature points in each direction, at most KG_GAUSS_MAX
/// @param[out] m     the caller releases it by kg_measure_close(), also after a failure
kedge_status kg_measure_open(const kedge_solution *solution, const kedge_problem *problem, int rows,
                             kg_measure *m);
void kg_measure_close(kg_measure *m);

/// Integrate squares over slice `part`, 0 to n_parts - 1, of the quadrature points in the elements
/// of a group (32 elements). Several threads may call this at once, each with sums of its own.
/// @param[in,out] error  sums to which the squares of the errors are added
/// @param[in,out] exact  sums to which the squares of the exact solution are added
void kg_measure_part(const kg_measure *m, int32_t group, int part, kg_squares *error,
                     kg_squares *exact);
/// For kg_loop_threads(): the work of a part.
int64_t kg_measure_work(const kg_measure *m);

void kg_squares_add(const kg_squares *part, kg_squares *sum);

/// The solution whose u* a function is (kedge_by_solution()), or NULL.
const kedge_solution *kg_solution_of(const kg_function *function);
/// Whether a function, NULL is none, may be another one at another time.
bool kg_function_may_move(const kg_function *function);
/// Whether the fields of a solution are in the memory of the device of a context.
bool kg_lies_with(const kedge_solution *solution, const kedge_context *ctx);

/// Check the solutions that serve as coefficients, source or boundary data of a problem: they must
/// be on the problem's mesh and keep their fields. Their fields are copied to the host;
/// that of a source on the context's device only when the host asks for its values.
/// @param[in] result  the solution that the solve overwrites, which must be another one; or NULL
/// @retval KEDGE_ERR_INPUT  a solution is on another mesh or does not keep its fields
kedge_status kg_fields_check(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_resolved *resolved, const kedge_solution *result);

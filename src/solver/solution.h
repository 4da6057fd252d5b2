/// @file
/// The inside of a solution: results in host memory, in the order of the mesh's elements.
#pragma once
#include "basis/cell.h"
#include "basis/reference.h"
#include "kedge/solution.h"
#include "mesh/trace_layout.h"

/// The results of a batch (mesh/trace_layout.h). Arrays begin at its first group.
typedef struct kg_results {
  const kg_cell *cell;
  kg_cell_sizes size;
  int32_t first_element, n_elements;
  int32_t first_group, n_groups;
  double *indicator;  ///< [group][lane]
  /// [group][3][lane]: coefficients of the constant mode of u, q_x, q_y; NULL: all modes are there
  double *constant;
  // NULL where only constants are kept:
  double *u;  ///< [group][N][lane]
  /// [group][S][lane]: of triangles q_x, then q_y, in the modes of u; of other shapes the
  /// coefficients of sigma = diffusion * q (ops/local/quadrature/elements.h)
  double *flux;
  double *u_star;  ///< [group][N*][lane]
} kg_results;

struct kedge_solution {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  kg_sizes size;
  int32_t n_groups, n_edges;
  kedge_report report;
  char note[640];          ///< behind report.solver_note
  char evaluation[1024];   ///< behind report.evaluation
  char evaluated[2][496];  ///< where source and exact solution were, by kg_sample_kind
  double diffusion;        ///< of sigma: that of the equation as it was solved
  int n_batches;
  kg_results batch[KG_BATCHES_MAX];
  // Owned, all batches one behind the other; which are NULL says kg_results.
  double *indicator, *constant, *u, *flux, *u_star;
  double *trace;  ///< [trace edge][m], or NULL
  kg_trace_layout layout;
};

/// The results that an element (in the mesh's numbering) is in.
static inline const kg_results *kg_results_of(const kedge_solution *solution, int32_t element)
{
  const kg_results *results = solution->batch;
  while (element - results->first_element >= results->n_elements) ++results;
  return results;
}

/// Nodes of an element of the highest order that can be asked for.
enum { KG_NODES_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2 };

/// Add a sentence to the note, behind "; " where there is one.
__attribute__((format(printf, 2, 3))) void kg_note_add(kedge_solution *solution, const char *format,
                                                       ...);

/// The mean of a field over an element (in the mesh's numbering).
double kg_solution_mean(const kedge_solution *solution, kedge_field field, int32_t element);

/// Write the file of a solution of which only means are kept (solver/output_cells.c).
kedge_status kg_output_cells(const kedge_solution *solution, const char *path);

/// Where n points of the reference triangle lie in an element: xy[stride * point + 0, 1].
void kg_element_points(const kedge_mesh *mesh, int32_t element, int n, const double *r,
                       const double *t, int stride, double *xy);

/// Basis values at the Lagrange nodes: [node][modes of the field's order].
/// Sizes by kedge_node_count(order) and kg_triangle_modes(field_order).
void kg_node_basis(int order, int field_order, double *basis);

/// A field's values at the nodes of one element (in the mesh's numbering).
void kg_solution_element(const kedge_solution *solution, kedge_field field, int32_t element,
                         int n_nodes, const double *basis, double *values);

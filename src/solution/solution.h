/// @file
/// The inside of a solution: results in host memory, in the order of the mesh's elements.
#pragma once
#include "basis/cell.h"
#include "basis/reference.h"
#include "kedge/solution.h"
#include "problem/problem.h"
#include "space/trace_layout.h"

/// The results of a batch (space/trace_layout.h). Arrays begin at its first group.
typedef struct kg_results {
  const kg_cell *cell;
  kg_cell_sizes size;
  int32_t first_element, n_elements;
  int32_t first_group, n_groups;
  bool by_quadrature, keeps_gradient;
  double *indicator;  ///< [group][lane]
  /// [group][3][lane]: coefficients of the constant mode of u, q_x, q_y, by quadrature [5] also of
  /// sigma_x, sigma_y; NULL: all modes are there
  double *constant;
  // NULL where only constants are kept:
  double *u;  ///< [group][N][lane]
  /// [group][S][lane]: of triangles q_x, then q_y, in the modes of u; of elements by
  /// quadrature the coefficients of sigma = diffusion q (ops/local/quadrature/elements.h), and with
  /// keeps_gradient [group][2 S][lane], behind them those of q as covariant gradient
  double *flux;
  double *u_star;  ///< [group][N*][lane]
} kg_results;

struct kedge_solution {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  kg_sizes size;
  int32_t n_groups, n_edges;
  kedge_report report;
  char note[1200];          ///< behind report.solver_note
  char evaluation[1600];    ///< behind report.evaluation
  char output_error[1024];  ///< behind report.output_error
  char evaluated[3][496];   ///< where functions were evaluated, by kg_evaluated
  // The equation; it was solved with all coefficients `scale` times as large, and sigma is so too.
  kg_coefficients equation;  ///< owned
  double scale;
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

/// The L2 norm of u* - u in an element.
static inline double kg_indicator_of(const kedge_solution *solution, int32_t element)
{
  const kg_results *results = kg_results_of(solution, element);
  return results->indicator[element - results->first_element];
}

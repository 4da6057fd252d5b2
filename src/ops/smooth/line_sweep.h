/// @file
/// Half of a solve along the lines of edges, in place, with the factors of
/// ops/smooth/line_factor.h:
///
///     forward   x_s -= L_s x_{s-1}     from the second step of a line to its last
///     backward  x_{s-1} -= L_s^T x_s   from the last step to the second
///
/// Between both x is multiplied with W^T W of all edges (ops/smooth/edge_smooth.h): together A^-1
/// along the lines. Edges of no line are not touched.
#pragma once
#include "ops/smooth/line_factor.h"
KEDGE_BEGIN_DECLS

typedef struct kg_line_sweep_args {
  int m;
  kg_line_steps lines;
  kg_number number;     ///< of x
  const float *factor;  ///< of kg_line_factor()
  void *x;              ///< [free trace edge][mode]
  bool backward;
} kg_line_sweep_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_line_sweep, kg_line_sweep_args);
kg_cost kg_line_sweep_cost(int m, int32_t n_steps, kg_number number);

KEDGE_END_DECLS

/// @file
/// Load vectors of a source that is u* of a solution on the same straight triangles, from its modes
/// where they lie. Modes are orthonormal on the reference triangle, and those of a lower order are
/// the first of a higher one: (u*, phi_i) is J times coefficient i.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_solution_loads_args {
  kg_trace_arrays arrays;  ///< of the range: vertices and vertex are read
  int32_t n_elements;      ///< of the range, which begins with a whole group
  int n_modes;             ///< N of the loads
  int n_star;              ///< modes of the solution
  const double *from;      ///< [group][n_star][lane]
  double scale;
  double *load;  ///< out: [group][N][lane]; 0 in empty lanes
} kg_solution_loads_args;

KG_DECLARE_OPERATOR(kg_solution_loads, kg_solution_loads_args);

/// Lane i of the range.
KG_INLINE void kg_solution_load(const kg_solution_loads_args *a, int64_t i)
{
  const int64_t group = i / KG_LANES;
  const int lane = (int)(i % KG_LANES), N = a->n_modes;
  double x[3], y[3];
  kg_element_corners(a->arrays.vertices, a->arrays.vertex, group, lane, x, y);
  const double det = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  const double times = 0.25 * a->scale * det;
  const double *const from = a->from + group * a->n_star * KG_LANES + lane;
  double *const to = a->load + group * N * KG_LANES + lane;
  for (int k = 0; k < N; ++k)
    to[(int64_t)k * KG_LANES] =
        i < a->n_elements && k < a->n_star ? times * from[(int64_t)k * KG_LANES] : 0.0;
}

KEDGE_END_DECLS

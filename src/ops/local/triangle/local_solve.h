/// @file
/// Local solves (King 2014, steps B5 and B6): u and q of every element from the trace, recomputing
/// Z.
///
///   u^e = Z (f^e + R lambda^e),   q_k = M^-1 (F~_k lambda^e - D_k^T u^e)
///   (docs/math.md#local-solve)
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_local_solve_args {
  kg_batch batch;
  kg_materials materials;
  int32_t first_group, n_groups;  ///< the chunk of this call
  const double *trace;            ///< [trace edge][mode]
  const double *load;             ///< [group][N][lane]
  double *u;                      ///< out: [group of the chunk][N][lane]
  double *q;  ///< out: [group of the chunk][2 N][lane]: q_x, then q_y; NULL: none
} kg_local_solve_args;

KG_DECLARE_OPERATOR(kg_local_solve, kg_local_solve_args);
kg_cost kg_local_solve_cost(kg_sizes size, int64_t n_elements);

KEDGE_END_DECLS

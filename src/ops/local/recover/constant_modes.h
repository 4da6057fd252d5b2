/// @file
/// The coefficients of the constant mode of u and q of every element: what remains of a solution
/// that keeps only means. The other modes are orthogonal to constants, so the mean over the element
/// is the coefficient times the mode.
#pragma once
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_constant_modes_args {
  kg_sizes size;
  int32_t n_groups;  ///< of the chunk
  const double *u;   ///< [group of the chunk][N][lane]
  const double *q;   ///< [group of the chunk][2 N][lane]
  double *constant;  ///< out: [group of the chunk][3][lane]: of u, q_x, q_y
} kg_constant_modes_args;

KG_DECLARE_OPERATOR(kg_constant_modes, kg_constant_modes_args);
kg_cost kg_constant_modes_cost(int64_t n_elements);

/// Copy the coefficients of lane i of the chunk.
KG_INLINE void kg_constant_modes_of(const kg_constant_modes_args *a, int32_t i)
{
  const int64_t g = i / KG_LANES, lane = i % KG_LANES, N = a->size.n_modes;
  double *const to = a->constant + 3 * g * KG_LANES + lane;
  to[0] = a->u[g * N * KG_LANES + lane];
  to[KG_LANES] = a->q[2 * g * N * KG_LANES + lane];
  to[2 * KG_LANES] = a->q[(2 * g + 1) * N * KG_LANES + lane];
}

KEDGE_END_DECLS

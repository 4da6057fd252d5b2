/// @file
/// The contribution of Robin conditions to local matrices: <a psi_i, psi_j> on boundary edges.
#pragma once
#include "equation/rules.h"
#include "equation/equation.h"
#include "integrals/boundary.h"

/// On the device: see kg_cell_robin_args. NULL: there is no such condition.
typedef struct kg_robin_arrays {
  int32_t *side;
  double *psi, *coefficient;
} kg_robin_arrays;

typedef struct kg_robin_args {
  const kg_rules *rules;
  const kg_equation *equation;
  const kg_trace_layout *layout;
  const kg_robin_arrays *arrays;
  kg_locals locals;  ///< packed K^e, which are made
} kg_robin_args;

void kg_robin_declare(kg_plan *plan, const kg_shape *shape, kg_robin_arrays *arrays);
/// Bytes of host memory that kg_robin_add() takes.
int64_t kg_robin_host_bytes(const kg_shape *shape);
/// Add the terms of Robin conditions to the local matrices of elements at such edges.
/// @param[out] range  the smallest negative and the largest positive Robin coefficient
/// @param[out] moves  edges on which the coefficient's integrals change with more quadrature points
/// @retval KEDGE_ERR_INPUT  a coefficient is not finite
kedge_status kg_robin_add(const kg_robin_args *args, kg_robin_range *range,
                          kg_boundary_moves *moves);

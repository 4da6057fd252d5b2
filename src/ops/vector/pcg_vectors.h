/// @file
/// The vector updates of conjugate gradients with a preconditioner that is more than a diagonal
/// (linear/linear.h), with their dot products fused. Arguments and scalars are those of
/// ops/vector/cg_vectors.h.
///
/// An iteration begins with rz = 0, where there is no direction yet, and with z = M r and its r . z
/// (rz_next of the state), so that none is begun in vain: the update, which decides whether to
/// stop, ends it.
#pragma once
#include "ops/vector/cg_vectors.h"
KEDGE_BEGIN_DECLS

/// Stops where rz_next is not positive. Else beta = rz_next / rz, or 0; p = z + beta p;
/// rz = rz_next.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_pcg_direction, kg_cg_vectors_args);
/// Stops where p_ap is not positive. Else alpha = rz / p_ap; x += alpha p, without the exponent of
/// r_single; r -= alpha A p; rr, without it too; counts the iteration and stops at the target or at
/// max_iterations.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_pcg_update, kg_cg_vectors_args);

/// The cost of both passes of an iteration. In single precision x alone is double.
kg_cost kg_pcg_vectors_cost(int64_t n, kg_number number);

KEDGE_END_DECLS

/// @file
/// How far the spectrum of B^-1 A reaches: what Chebyshev's iteration has to know of its smoother
/// (precondition/smoother.h).
#pragma once
#include "linear/cg.h"
#include "precondition/precond.h"

/// Measure the bound: the largest Ritz value of a few steps of Lanczos, made as conjugate gradients
/// from a random residual, and a twentieth more for several steps of smoothing, a twelfth less for
/// a single one (a thirtieth with lines), vertex modes included; never more than is possible. Waits
/// for the device.
/// @param[in] cg      all of its vectors, x too, are work
/// @param[in] blocks  a kg_cycle of a step of smoothing alone
/// @retval KEDGE_ERR_NUMERIC  the trace operator is not positive definite, or holds NaN
kedge_status kg_multigrid_bound(kedge_context *ctx, const kg_cg *cg, const kg_cycle *blocks,
                                double *out);
enum {
  KG_LANCZOS_STEPS = 12,
  KG_LANCZOS_STEPS_OF_ONE = 8,  ///< for a single step of smoothing
};
/// Each of the steps takes a product, a step of smoothing and the vectors of conjugate gradients.
kg_cost kg_multigrid_bound_cost(const kg_multigrid_shape *shape);

/// @file
/// How far the spectrum of B^-1 A reaches: what Chebyshev's iteration has to know of its smoother
/// (multigrid/smoother.h).
#pragma once
#include "ops/cg_vectors.h"
#include "multigrid/multigrid.h"

/// Measure it: the largest Ritz value of so many steps of Lanczos, made as conjugate gradients from
/// a random residual, and a twentieth more, since Ritz values come from below; never more than
/// kg_smoother_bound(). Waits for the device.
/// @param[in] vectors  x, z, p, r, ap, partial and state are work; rows of p beyond n are zero
/// @retval KEDGE_ERR_NUMERIC  the trace operator is not positive definite, or holds NaN
kedge_status kg_multigrid_bound(kedge_context *ctx, const kg_multigrid *multigrid,
                                const kg_trace_apply_args *op, const kg_cg_vectors_args *vectors,
                                double *out);
enum { KG_LANCZOS_STEPS = 12 };
/// Each of the steps takes a product, a step of smoothing and the vectors of conjugate gradients.
kg_cost kg_multigrid_bound_cost(const kg_multigrid_shape *shape);

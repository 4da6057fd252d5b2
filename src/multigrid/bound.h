/// @file
/// How far the spectrum of B^-1 A reaches: what Chebyshev's iteration has to know of its smoother
/// (multigrid/smoother.h).
#pragma once
#include "multigrid/multigrid.h"
#include "ops/cg_vectors.h"

/// The vectors of conjugate gradients as a cycle takes them.
static inline kg_multigrid_vectors kg_multigrid_vectors_of(const kg_cg_vectors_args *v)
{
  kg_multigrid_vectors out = {.r = v->r, .z = v->z, .product = v->ap};
  if (v->r_single)
    out = (kg_multigrid_vectors){.r = v->r_single, .z = v->z_single, .product = v->ap_single};
  out.sum = (kg_sum){v->partial, &v->state->rz_next, v->z_single ? &v->state->exponent : NULL};
  return out;
}

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

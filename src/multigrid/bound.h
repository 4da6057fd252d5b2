/// @file
/// How far the spectrum of B^-1 A reaches, with B the blocks of the edges: what Chebyshev's iteration
/// has to know (multigrid/multigrid.h).
#pragma once
#include "ops/cg_vectors.h"
#include "multigrid/multigrid.h"

/// Theorem: x . A x <= 3 x . B x. K^e is positive semidefinite, so by Cauchy and Schwarz x . K^e x <=
/// 3 (x_1 . K^e x_1 + x_2 . K^e x_2 + x_3 . K^e x_3) with x_l the part of x on edge l of the element;
/// the sum over the elements is the claim.
#define KG_EIGENVALUE_MAX 3.0

/// Measure it: the largest Ritz value of so many steps of Lanczos, made as conjugate gradients from a
/// random residual, and a twentieth more, since Ritz values come from below; never more than the
/// theorem allows. Waits for the device.
/// @param[in] vectors  x, z, p, r, ap, partial and state are work; rows of p beyond n are zero
/// @param[out] out     KG_EIGENVALUE_MAX at most
/// @retval KEDGE_ERR_NUMERIC  the trace operator is not positive definite, or holds NaN
kedge_status kg_multigrid_bound(kedge_context *ctx, const kg_multigrid *multigrid,
                                const kg_trace_apply_args *op, const kg_cg_vectors_args *vectors,
                                double *out);
enum { KG_LANCZOS_STEPS = 12 };

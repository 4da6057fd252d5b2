/// @file
/// Potentials of vector fields on the reference triangle: what post-processing needs
/// (docs/math.md#post-processing).
///
/// A field is p = (p_1, p_2) in P_P x P_P, components along two directions in which the reference
/// triangle is symmetric about its base: d_1 = d_r, d_2 = (2 d_s - d_r) / sqrt(3). It is the sum of
/// the gradient of one v in P_{P+1} of mean zero and of a field orthogonal to all gradients.
#pragma once
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// @param[in] gradient_r, gradient_s  [N*][N]: (phi_j, d_r phi*_i) and (phi_j, d_s phi*_i)
/// @param[out] rotation   two of [N][K]: components of an orthonormal basis of the fields
///                        orthogonal to all gradients, K = P (P+1) / 2 of them: first those whose
///                        first component is even along the base and the second odd, as many as
///                        there are even modes among K; then those the other way round. Components
///                        of each kind are orthogonal too: T_c T_c^T is diagonal
/// @param[out] potential  two of [N][N* - 1]: coefficients of v, but the constant's, from p
kedge_status kg_potential_create(kedge_context *ctx, int order, const double *gradient_r,
                                 const double *gradient_s, double *const rotation[2],
                                 double *const potential[2]);

KEDGE_END_DECLS

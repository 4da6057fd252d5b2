/// @file
/// How strong a diffusion tensor is for the adjusted flux of elements by quadrature: whether errors
/// of sigma, which q = kappa^-1 sigma multiplies, may be more than those of the mesh
/// (docs/math.md#strong-tensors).
#pragma once
#include "problem/problem.h"
KEDGE_BEGIN_DECLS

/// Errors of q may be this many times those that the mesh explains: a digit.
enum { KG_STRONG = 10 };

typedef struct kg_strength {
  /// The largest bound of the errors of q over those that the mesh explains, as a multiple of what
  /// it is on the same element with the diffusion 1, or of 1 where that is less
  double most;
  double bend;  ///< mean over the elements of how much F varies in each, as a part of its mean
  /// About how many times those of a scalar the errors of q are where it is the weak gradient: root
  /// of the mean square over the elements
  double left;
} kg_strength;

/// Look at all elements of a block, at the points of a rule in each.
/// @param[in] order  of the space
/// @retval KEDGE_ERR_MEMORY  or what bringing coefficients to the host fails with
kedge_status kg_strength_find(kedge_context *ctx, const kedge_mesh *mesh,
                              const kg_resolved *resolved, const kg_block *block, int order,
                              kg_strength *out);

KEDGE_END_DECLS

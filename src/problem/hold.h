/// @file
/// Find, in each connected part of the domain, what determines the mean of u: a Dirichlet edge,
/// reaction or Robin coefficients.
#pragma once
#include "problem/problem.h"

/// What holds the mean of u of a part. Reaction and coefficients hold it by the share that their
/// integrals are of `diffusion`: reaction h^2 / diffusion, h^2 two elements of mean area.
typedef struct kg_part_hold {
  bool fixed;           ///< some edge is a Dirichlet one
  double reaction;      ///< its integral
  double robin, added;  ///< the integral of Robin coefficients; of those that are positive
  double diffusion;     ///< half its sum over the elements
} kg_part_hold;

typedef struct kg_holds {
  int32_t *part;  ///< [element]; NULL: there is one part
  int32_t n;      ///< parts
  kg_part_hold *hold;
} kg_holds;

/// Measure all parts that are not fixed: Robin coefficients at the points of their edges, reaction
/// and diffusion in the middle of elements, and, where that is next to nothing, at all points at
/// which local matrices have them. `equation` and `boundaries` are resolved.
/// @param[out] out  kg_holds_free()
kedge_status kg_holds_measure(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_resolved *resolved, kg_holds *out);
void kg_holds_free(kg_holds *holds);

/// Refuse a problem that does not determine u in some part; else write `hold` of `resolved`
/// (determined.c).
/// @retval KEDGE_ERR_INPUT  a part without Dirichlet edges, in which reaction and Robin
/// coefficients
///                          are 0 or nothing beside rounding; the sentence says where it is
kedge_status kg_problem_check_determined(kedge_context *ctx, const kedge_problem *problem,
                                         const kedge_mesh *mesh, kg_resolved *resolved);

/// @file
/// Boundary data on the faces of tetrahedra, evaluated on the host by one rule.
#pragma once
#include "integrals/boundary.h"

/// kg_sample_boundary() of a mesh in space: <g, psi_k> on Neumann faces, the coefficients of the L2
/// projection of g_D on Dirichlet faces, psi being the modes of the reference face.
/// Values that are rough are integrated by parts, but for those of Robin conditions.
/// @param[out] modes  [face of sections 3 and 4][m]
/// @param[in,out] moves  more is added
/// @retval KEDGE_ERR_INPUT  a value is not finite; the sentence is about the first
kedge_status kg_sample_faces(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double *modes, kg_boundary_moves *moves);
/// kg_sample_robin() of a mesh in space.
/// @param[out] out  `psi` and `coefficient` have the square of kg_boundary_points() points
kedge_status kg_sample_robin_faces(kedge_context *ctx, const kedge_mesh *mesh,
                                   const kg_trace_layout *layout, const kedge_problem *problem,
                                   const kg_resolved *resolved, double scale,
                                   kg_robin_samples *out);

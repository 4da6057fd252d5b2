/// @file
/// Boundary data: what the user's functions and the exact solution say on boundary edges, as
/// coefficients of the trace. Evaluated on the host.
#pragma once
#include "space/trace_layout.h"
#include "problem/problem.h"

/// Boundary data of trace edges [n_free - n_neumann, n_edges): <g_N, psi_k> on Neumann edges, the
/// coefficients of the L2 projection of g_D on Dirichlet edges.
/// @param[out] modes  [edge of that range][m]
/// @retval KEDGE_ERR_INPUT  a value is not finite; the sentence is about the first
kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes);

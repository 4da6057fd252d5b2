/// @file
/// Boundary data: what the user's functions and the exact solution say on boundary edges, as
/// coefficients of the trace. Evaluated on the host.
#pragma once
#include "space/trace_layout.h"
#include "problem/problem.h"
#include "diagnose/diagnose.h"

/// Edges whose values were integrated by parts (integrals/refined.h), as they move with more points
/// and the problem does not say how many to take.
typedef struct kg_boundary_moves {
  int64_t n;
  double left, left_at[3];  ///< as kg_loads_left
  double moved;             ///< likewise
} kg_boundary_moves;

/// Boundary data of trace edges [n_free - n_neumann, n_edges): <g, psi_k> on Neumann and Robin
/// edges, the
/// coefficients of the L2 projection of g_D on Dirichlet edges.
/// @param[out] modes  [edge of that range][m]
/// @param[in,out] moves  more is added
/// @retval KEDGE_ERR_INPUT  a value is not finite; the sentence is about the first
kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes,
                                kg_boundary_moves *moves);

/// Robin conditions of the edges of section 3, [n_free - n_neumann, n_free). Arrays are the
/// caller's.
typedef struct kg_robin_samples {
  kg_side *side;        ///< [edge]: of the mesh
  double *psi;          ///< [point][m]: modes
  double *coefficient;  ///< [edge][point]: times scale, weight and ds/dt; 0 on Neumann edges
  kg_robin_range range;
  kg_boundary_moves moves;
} kg_robin_samples;

/// @param[out] out  `range` and `moves` are widened
/// @retval KEDGE_ERR_INPUT  a coefficient is not finite; the sentence is about the first
kedge_status kg_sample_robin(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double scale, kg_robin_samples *out);

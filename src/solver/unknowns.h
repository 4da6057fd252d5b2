/// @file
/// The unknowns of a trace as a caller sees them: modes of the edges of kedge_solution_trace() that
/// are not Dirichlet edges, in the order of that function, each along the direction that it has
/// there.
#pragma once
#include "ops/vector/unknowns.h"
#include "solver/solver.h"

/// Find the order of the unknowns, if nobody has before: solver->unknowns.
kedge_status kg_unknowns_find(kedge_solver *solver);
/// Bring it to the device, if nobody has: solver->device_unknowns, of kedge_plan.apply_bytes.
kedge_status kg_unknowns_upload(kedge_solver *solver);
/// Forget both. @param[in] ctx  the solver may have no pipeline yet
void kg_unknowns_forget(kedge_solver *solver, kedge_context *ctx);
/// Rows of the trace vector from the unknowns of the caller; and back, in the units of the problem.
/// The order has been found. @param[in] there  arrays are on the device, and so is the order
kg_unknowns_args kg_unknowns_taken(const kedge_solver *solver, bool there, const double *unknowns,
                                   double *rows);
kg_unknowns_args kg_unknowns_given(const kedge_solver *solver, bool there, const double *rows,
                                   double *unknowns);

/// @file
/// The unknowns of the trace in the caller's order: modes of all edges but Dirichlet edges. Order
/// and direction of the edges are those of kedge_solution_trace().
#pragma once
#include "ops/vector/unknowns.h"
#include "solver/solver.h"

/// Make the table solver->unknowns of the order of the unknowns, unless it exists.
kedge_status kg_unknowns_find(kedge_solver *solver);
/// Copy the table to solver->device_unknowns, unless done: kedge_plan.apply_bytes of memory.
kedge_status kg_unknowns_upload(kedge_solver *solver);
/// Free both tables. @param[in] ctx  read instead of the solver's, which may not be set up yet
void kg_unknowns_forget(kedge_solver *solver, kedge_context *ctx);
/// Return the arguments of a copy between the caller's vector of unknowns and the rows of the trace
/// vector: kg_unknowns_taken() copies to the rows, kg_unknowns_given() from the rows, and scales to
/// the units of the problem. kg_unknowns_find() must have been called.
/// @param[in] there  the vectors are in device memory, and kg_unknowns_upload() has been called
kg_unknowns_args kg_unknowns_taken(const kedge_solver *solver, bool there, const double *unknowns,
                                   double *rows);
kg_unknowns_args kg_unknowns_given(const kedge_solver *solver, bool there, const double *rows,
                                   double *unknowns);
/// Copy the caller's order of elements to the device, unless it is there: solver->element_order.
kedge_status kg_element_order_upload(kedge_solver *solver);

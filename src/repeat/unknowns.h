/// @file
/// The unknowns of a trace as a caller sees them: modes of the edges of kedge_solution_trace() that
/// are not Dirichlet edges, in the order of that function, each along the direction that it has
/// there.
#pragma once
#include "repeat/solver.h"

/// Find the order of the unknowns, if nobody has before: solver->unknowns.
kedge_status kg_unknowns_find(kedge_solver *solver);
/// Rows of the trace vector from the unknowns of the caller, and back with a factor. The order has
/// been found.
void kg_unknowns_take(const kedge_solver *solver, const double *unknowns, double *rows);
void kg_unknowns_give(const kedge_solver *solver, const double *rows, double factor,
                      double *unknowns);

/// Odd modes of an edge that the caller directs the other way have the other sign.
static inline double kg_unknown_sign(uint32_t unknown, int mode)
{
  return unknown & 1 && mode & 1 ? -1.0 : 1.0;
}

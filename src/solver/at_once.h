/// @file
/// The trace solve of many right-hand sides at once (linear/system_many.h), for a solver that is
/// set up: its own vectors beside the arrays of the set-up, which hold what all of them read.
#pragma once
#include "linear/system_many.h"
#include "precondition/precond.h"
#include "elliptic/elliptic.h"

typedef struct kg_many kg_many;

/// The trace solve takes many (kg_many_takes()), and the set-up has a coarse system.
/// @param[out] out  kg_many_close()
kedge_status kg_many_open(kg_elliptic *p, kg_many **out);
void kg_many_close(kedge_context *ctx, kg_many *many);  ///< NULL is allowed

/// Take the right-hand side, load vectors and boundary data of the pipeline as those of a vector.
kedge_status kg_many_put(kg_elliptic *p, kg_many *many, int vector);
/// Solve for the first n vectors.
/// @param[out] seconds  of each of them
kedge_status kg_many_solve(kg_elliptic *p, kg_many *many, int n, double *seconds);
/// Bring the trace and load vectors of a vector to the pipeline, and its right-hand side where
/// kg_system_solve() will go on with it.
kedge_status kg_many_take(kg_elliptic *p, const kg_many *many, int vector);
const kg_system_begun *kg_many_begun(const kg_many *many, int vector);

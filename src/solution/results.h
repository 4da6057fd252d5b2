/// @file
/// What functions that read a solution share.
#pragma once
#include "solution/values.h"

/// Refuse what a solution cannot tell that has kept means alone, not polynomials and trace.
/// @param[in] call  the name of the function, for the sentence
kedge_status kg_solution_check_full(const kedge_solution *solution, const char *call);

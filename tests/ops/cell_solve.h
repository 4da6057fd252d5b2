/// @file
/// The trace of a case of cells by a dense matrix.
#pragma once
#include "cell_case.h"

/// @param[in]     local, condensed  [element][packed K^e], [element][n]
/// @param[in]     fixed             [facet]: whether its trace is given
/// @param[in]     load              [facet][m]: <g, psi>, of facets that are not fixed
/// @param[in,out] trace             [facet][m]
void cell_case_solve(const cell_case *c, const double *local, const double *condensed,
                     const bool *fixed, const double *load, double *trace);

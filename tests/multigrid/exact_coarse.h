/// @file
/// A solver of the coarse system that is exact, for small ones: Cholesky of the matrix as it is. It
/// works on the host and copies, so that a cycle with it cannot be recorded.
#pragma once
#include "precondition/amg/coarse.h"

extern const kg_coarse_table exact_coarse;

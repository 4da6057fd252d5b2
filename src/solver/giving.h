/// @file
/// Fields that a solve evaluates at nodes and writes to the caller's arrays in device memory.
#pragma once
#include "solver/data.h"

/// Check the caller's arrays, and copy to the device the tables that kg_stages_local() needs to
/// fill them. The arrays are not written yet. Release by kg_giving_close(), also after a failure.
/// @param[in]     function  the name of the called function, for error messages
/// @param[in,out] made      lists the arrays; gets the arguments for the kernels that fill them
kedge_status kg_giving_open(kedge_solver *solver, const char *function, kg_data_made *made);
void kg_giving_close(kedge_solver *solver);

/// @file
/// Values at nodes that a solve leaves in arrays of the caller in device memory.
#pragma once
#include "solver/solver.h"

/// Check the arrays and bring to the device what they are filled by, for kg_stages_local(). Nothing
/// is written yet. kg_giving_close(), also after a failure.
/// @param[in]     function  that was called, for sentences
/// @param[in,out] made      has the arrays; its data get what fills them
kedge_status kg_giving_open(kedge_solver *solver, const char *function, kg_data_made *made);
/// Bring the caller's order of elements to the device, unless it is there: solver->element_order.
kedge_status kg_giving_order(kedge_solver *solver);
void kg_giving_close(kedge_solver *solver);

/// @file
/// Values at nodes that a solve leaves in arrays of the caller in device memory.
#pragma once
#include "solver/solver.h"

/// Check the arrays and bring to the device what they are filled by; then solver->elliptic->given
/// is what kg_stages_local() gives. Nothing is written yet. kg_giving_close(), also after a
/// failure.
/// @param[in] function  that was called, for sentences
/// @param[in] n, of     as of kedge_data
kedge_status kg_giving_open(kedge_solver *solver, const char *function, int n,
                            const kedge_device_values *of);
/// Bring the caller's order of elements to the device, unless it is there: solver->element_order.
kedge_status kg_giving_order(kedge_solver *solver);
void kg_giving_close(kedge_solver *solver);

/// @file
/// Marches of waves (src/waves).
#pragma once
#include "kedge/march.h"

/// kedge_march_create() of a problem whose system is one of waves.
kedge_status kg_waves_march(kedge_context *ctx, const kedge_mesh *mesh,
                            const kedge_problem *problem, kedge_march **out);
/// kedge_march_plan() of such a problem refuses.
kedge_status kg_waves_march_plan(kedge_context *ctx);

/// @file
/// Marches of waves (src/waves).
#pragma once
#include "kedge/march.h"

struct kg_checkpoint;
struct kg_waves;

/// kedge_march_create() and kedge_march_restore() of a problem whose system is one of waves.
/// @param[in]  from  NULL: it begins
/// @param[out] out   kedge_march_destroy(), also after a failure
kedge_status kg_waves_march(kedge_context *ctx, const kedge_mesh *mesh,
                            const kedge_problem *problem, const struct kg_checkpoint *from,
                            kedge_march **out);
/// The waves of a march, or a failure. @param[in] call  of the API, whose result `out` is
/// @param[out] waves  NULL: it has none. Where a step has failed and left no state, which is a
///                    failure, they are there all the same
kedge_status kg_waves_of(const kedge_march *march, const char *call, const void *out,
                         struct kg_waves **waves);
/// The waves of a march, also where a step has failed. @return NULL: it has none, or is NULL
const struct kg_waves *kg_waves_in(const kedge_march *march);
/// Note in the report of a march of waves where its energy, which is this now, is seen to have
/// grown for the first time.
kedge_status kg_waves_watch(const kedge_march *march, double energy);
/// kedge_march_plan() of such a problem.
kedge_status kg_waves_march_plan(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kedge_problem *problem, kedge_plan *plan);

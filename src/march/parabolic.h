/// @file
/// mass u_t - div(diffusion grad u) + reaction u = source as what marches: a stage is the solve of
/// the steady equation with reaction + rate mass, and rate (mass base, phi) beside the loads.
#pragma once
#include "march/march.h"
#include "problem/problem.h"

/// Predict the memory of a march of a problem with these steps.
kedge_status kg_march_plan(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                           const kg_march_settings *settings, kedge_plan *plan);

/// Begin a march of a problem with these steps, from the projection of a function.
kedge_status kg_march_create(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, const kg_march_settings *settings,
                             const kg_function *initial, kedge_march **out);

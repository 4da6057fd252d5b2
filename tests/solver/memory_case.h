/// @file
/// Problems whose memory is looked at, and what is predicted of them.
#pragma once
#include "elliptic/memory.h"
#include "elliptic/elliptic.h"

/// Two iterations of a problem with Dirichlet conditions and the exact solution x y.
kedge_problem *dirichlet(kedge_context *ctx, const char *order, const char *op);
kg_shape shape_of(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem);

/// @file
/// Local matrices on a GPU at orders that are too high for an element to fit a thread, and too low
/// for it to fill the tiles of a tensor core.
#pragma once
#include "ops/local/triangle/local_matrices.h"

/// An element is dealt out to lanes.
enum { KG_DEALT_ORDER_MIN = 3, KG_DEALT_ORDER_MAX = 6 };

/// A kernel of its own file, because it takes long to compile.
kedge_status kg_local_matrices_lanes(kedge_context *ctx, const kg_local_matrices_args *a);

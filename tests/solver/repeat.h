/// @file
/// Solves that are made again.
#pragma once
#include "support.h"

/// The same problem again on test_irregular_mesh() of 1000 triangles, in contexts with 2, 1 and 3
/// threads: the same bits as in `ctx`.
void assert_repeatable(kedge_context *ctx, const setting *settings);

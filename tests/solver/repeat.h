/// @file
/// Solves that are made again.
#pragma once
#include "support.h"

/// Asserts that contexts with 2, 1 and 3 threads solve the problem on test_irregular_mesh() of 1000
/// triangles to the same bits as `ctx`.
void assert_repeatable(kedge_context *ctx, const setting *settings);

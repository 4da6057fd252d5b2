/// @file
/// How many threads a loop of the host is worth.
#pragma once
#include "core/context.h"

/// Threads for a loop over n small things: elements, edges, vertices. A short one is over before a team has
/// met, and where a core of the team is busy with something else, the driver of a GPU say, all wait for it.
static inline int kg_loop_threads(const kedge_context *ctx, int64_t n)
{
  const int64_t worth_a_team = 1 << 16;
  return n < worth_a_team ? 1 : ctx->threads;
}

/// @file
/// Loops of the host: how many threads one is worth, and memory of these threads.
#pragma once
#include "device/context.h"

/// Threads for a loop over n small things: elements, edges, vertices. A short one is over before a
/// team has met, and where a core of the team is busy, with a GPU's driver say, all wait for it.
static inline int kg_loop_threads(const kedge_context *ctx, int64_t n)
{
  const int64_t worth_a_team = 1 << 16;
  return n < worth_a_team ? 1 : ctx->threads;
}

/// Threads for a loop over n rows of a sparse matrix, one of many in a row, between which the team
/// waits awake. On 16 cores a cycle takes 50 us at 1225 rows and 160 at 7921, on one 39 and 445
/// (profiling/cycle --backend host --mesh "square 36", and 90).
static inline int kg_row_threads(const kedge_context *ctx, int64_t n)
{
  const int64_t worth_a_team = 1 << 11;
  return n < worth_a_team ? 1 : ctx->threads;
}

/// Memory of the threads of a loop, where it is too much for their stacks, which may have 256 KB.
/// The context owns it; the next call has the same memory.
/// @param[in]  bytes  of one thread
/// @param[out] out    address of the pointer to [ctx->threads][bytes], 64-byte aligned, contents
///                    undefined
kedge_status kg_loop_scratch(kedge_context *ctx, size_t bytes, void *out);

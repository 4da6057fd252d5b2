/// @file
/// Loops of the host: how many threads one is worth, and memory of these threads.
#pragma once
#include "device/context.h"
#include "device/team.h"

/// Work that a team of threads is worth. A loop of less is over before the team has met: to wake it
/// takes tens of microseconds, and where a core is busy, with a GPU's driver say, all wait for it.
/// On 16 cores 1225 rows of a sparse matrix are not worth it and 7921 are (profiling/cycle). On 2
/// busy cores 2048 triangles at order 1 take 50 ms with a team for every loop, 24 with this, and 23
/// with one thread.
#define KG_WORK_OF_A_TEAM ((int64_t)1 << 16)

/// Threads for a loop of n iterations of so much work: about how many numbers each reads, writes or
/// computes. Loops over a mesh that is made count 1. All threads or one: OpenMP ends those that a
/// smaller team leaves out, and a new one is not bound to its core. One, too, where the context was
/// made by another thread of the program, and this one cannot have as many.
static inline int kg_loop_threads(const kedge_context *ctx, int64_t n, int64_t work)
{
  return n * work < ctx->work_of_a_team || !kg_team_has(ctx->threads) ? 1 : ctx->threads;
}

/// The most that kg_loop_scratch() gives a thread. Predictions of host memory count it.
enum { KG_LOOP_SCRATCH = 264 << 10 };

/// Memory of the threads of a loop, where it is too much for their stacks, which may have 256 KB.
/// The context owns it; the next call has the same memory.
/// @param[in]  bytes  of one thread, KG_LOOP_SCRATCH at most
/// @param[out] out    address of the pointer to [ctx->threads][bytes], 64-byte aligned, contents
///                    undefined
kedge_status kg_loop_scratch(kedge_context *ctx, size_t bytes, void *out);

/// @file
/// Device memory for arrays whose sizes are known one after another: taken piece by piece from one
/// array that was made beforehand, in the order of a stack. What it has no room for is allocated.
#pragma once
#include "device/backend.h"
KEDGE_BEGIN_DECLS

typedef struct kg_arena_block kg_arena_block;

/// Zero-initialise but for `memory` and `bytes`, which may be 0; kg_arena_free().
typedef struct kg_arena {
  char *memory;
  size_t bytes;
  size_t used, most;       ///< of `memory`; the most so far
  kg_arena_block *beyond;  ///< what has been allocated, the last first
} kg_arena;

/// A mark of how full an arena is.
typedef struct kg_arena_mark {
  size_t used;
  kg_arena_block *beyond;
} kg_arena_mark;

/// @param[out] out  a pointer to the array; NULL after a failure
kedge_status kg_arena_take(kedge_context *ctx, kg_arena *arena, size_t count, size_t size,
                           void *out);
kg_arena_mark kg_arena_now(const kg_arena *arena);
/// Give back all that has been taken since.
void kg_arena_return(kedge_context *ctx, kg_arena *arena, kg_arena_mark mark);
/// Give back everything; `memory` stays with its owner.
void kg_arena_free(kedge_context *ctx, kg_arena *arena);

KEDGE_END_DECLS

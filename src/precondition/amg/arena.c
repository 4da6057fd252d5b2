#include "precondition/amg/arena.h"

#include <stdlib.h>

#include "core/memory.h"

struct kg_arena_block {
  kg_buffer buffer;
  kg_arena_block *before;
};

static kedge_status take_beyond(kedge_context *ctx, kg_arena *arena, size_t bytes, void **out)
{
  kg_arena_block *block;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *block, &block));
  const kedge_status status = kg_alloc(ctx, bytes, 1, &block->buffer);
  if (status != KEDGE_OK) {
    free(block);
    return status;
  }
  block->before = arena->beyond;
  arena->beyond = block;
  *out = block->buffer.data;
  return KEDGE_OK;
}

kedge_status kg_arena_take(kedge_context *ctx, kg_arena *arena, size_t count, size_t size,
                           void *out)
{
  void **const array = out;
  const size_t bytes = kg_rounded(count * size);
  *array = NULL;
  if (bytes > arena->bytes - arena->used) return take_beyond(ctx, arena, bytes, array);
  *array = arena->memory + arena->used;
  arena->used += bytes;
  if (arena->used > arena->most) arena->most = arena->used;
  return KEDGE_OK;
}

kg_arena_mark kg_arena_now(const kg_arena *arena)
{
  return (kg_arena_mark){arena->used, arena->beyond};
}

void kg_arena_return(kedge_context *ctx, kg_arena *arena, kg_arena_mark mark)
{
  while (arena->beyond != mark.beyond) {
    kg_arena_block *const block = arena->beyond;
    arena->beyond = block->before;
    kg_free(ctx, &block->buffer);
    free(block);
  }
  arena->used = mark.used;
}

void kg_arena_free(kedge_context *ctx, kg_arena *arena)
{
  kg_arena_return(ctx, arena, (kg_arena_mark){0});
}

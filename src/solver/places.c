#include "solver/places.h"

#include <string.h>

#include "core/context.h"

/// By array: where in the memory of K^e it lies; 0: in memory of its own.
typedef struct places {
  size_t at[KG_ARRAY_COUNT];
} places;

/// Where the free end of the memory of K^e begins; 0: there is none.
static size_t free_end(const kg_shape *shape)
{
  if (shape->apart || !kg_shape_reduces_in_place(shape)) return 0;
  const size_t lanes = (size_t)KG_LANES * (size_t)shape->count.n_groups;
  return kg_rounded((size_t)kg_shape_local_rows(shape) * lanes * sizeof(double));
}

/// It lives in no other stage than assembly and trace solve.
static bool may_share(kg_array array, const kg_shape *shape)
{
  if (array == KG_ARRAY_LOCAL || kg_array_bytes(array, shape) == 0) return false;
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
    if (stage != KEDGE_STAGE_ASSEMBLY && stage != KEDGE_STAGE_TRACE_SOLVE &&
        kg_array_lives(array, stage, shape))
      return false;
  return true;
}

static bool live_together(kg_array a, kg_array b, const kg_shape *shape)
{
  for (kedge_stage stage = KEDGE_STAGE_ASSEMBLY; stage <= KEDGE_STAGE_TRACE_SOLVE; ++stage)
    if (kg_array_lives(a, stage, shape) && kg_array_lives(b, stage, shape)) return true;
  return false;
}

/// The end of an array that is in the way of `array` at `at`; 0: there is none.
static size_t end_of_obstacle(const places *p, kg_array array, size_t at, const kg_shape *shape)
{
  const size_t bytes = kg_rounded(kg_array_bytes(array, shape));
  for (kg_array other = 0; other < KG_ARRAY_COUNT; ++other) {
    const size_t begin = p->at[other], end = begin + kg_rounded(kg_array_bytes(other, shape));
    if (begin > 0 && begin < at + bytes && at < end && live_together(array, other, shape))
      return end;
  }
  return 0;
}

/// The largest array that has not been tried; KG_ARRAY_COUNT: all have been.
static kg_array largest_left(const bool *tried, const kg_shape *shape)
{
  kg_array largest = KG_ARRAY_COUNT;
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a)
    if (!tried[a] && may_share(a, shape) &&
        (largest == KG_ARRAY_COUNT || kg_array_bytes(a, shape) > kg_array_bytes(largest, shape)))
      largest = a;
  return largest;
}

static places places_of(const kg_shape *shape)
{
  const size_t begin = free_end(shape), end = kg_array_bytes(KG_ARRAY_LOCAL, shape);
  places p = {{0}};
  bool tried[KG_ARRAY_COUNT] = {false};
  if (begin == 0) return p;
  for (kg_array a; (a = largest_left(tried, shape)) < KG_ARRAY_COUNT; tried[a] = true) {
    size_t at = begin;
    for (size_t next; (next = end_of_obstacle(&p, a, at, shape)) > 0;) at = next;
    if (at + kg_rounded(kg_array_bytes(a, shape)) <= end) p.at[a] = at;
  }
  return p;
}

int64_t kg_stage_bytes(kedge_stage stage, const kg_shape *shape)
{
  const places p = places_of(shape);
  int64_t bytes = kg_other_bytes(stage, shape);
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a)
    if (p.at[a] == 0 && kg_array_lives(a, stage, shape))
      bytes += (int64_t)kg_rounded(kg_array_bytes(a, shape));
  return bytes;
}

int64_t kg_peak_bytes(const kg_shape *shape)
{
  int64_t peak = 0;
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage) {
    const int64_t bytes = kg_stage_bytes(stage, shape);
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

/// Memory that is written before it is read. On the shadow backend it is NaN, as new memory is.
static void forget(const kedge_context *ctx, char *memory, size_t bytes)
{
  if (ctx->backend == KEDGE_BACKEND_SHADOW) memset(memory, 0xff, bytes);
}

kedge_status kg_arrays_enter(kedge_context *ctx, kedge_stage stage, const kg_shape *shape,
                             kg_buffer *buffers)
{
  const places p = places_of(shape);
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a) {
    const size_t bytes = kg_array_bytes(a, shape);
    if (bytes == 0 || buffers[a].data || !kg_array_lives(a, stage, shape)) continue;
    if (p.at[a] == 0) {
      KG_TRY(kg_alloc(ctx, bytes, 1, &buffers[a]));
      continue;
    }
    char *const memory = (char *)buffers[KG_ARRAY_LOCAL].data + p.at[a];
    buffers[a] = (kg_buffer){memory, kg_rounded(bytes)};
    if (stage > KEDGE_STAGE_ASSEMBLY) forget(ctx, memory, bytes);
  }
  return KEDGE_OK;
}

void kg_arrays_reduced(const kedge_context *ctx, const kg_shape *shape, const kg_buffer *buffers)
{
  const kg_buffer *local = &buffers[KG_ARRAY_LOCAL];
  const size_t begin = free_end(shape);
  if (begin > 0) forget(ctx, (char *)local->data + begin, local->bytes - begin);
}

/// It lies in the memory of K^e.
static bool is_part(const kg_buffer *array, const kg_buffer *local)
{
  const char *begin = local->data, *data = array->data;
  return array != local && data && begin && data >= begin && data < begin + local->bytes;
}

static void release(kedge_context *ctx, kg_array array, kg_buffer *buffers)
{
  if (is_part(&buffers[array], &buffers[KG_ARRAY_LOCAL]))
    buffers[array] = (kg_buffer){0};
  else
    kg_free(ctx, &buffers[array]);
}

/// From the last to the first: K^e come before what lies in their memory.
void kg_arrays_leave(kedge_context *ctx, kedge_stage stage, const kg_shape *shape,
                     kg_buffer *buffers)
{
  for (int a = KG_ARRAY_COUNT - 1; a >= 0; --a)
    if (!kg_array_lives((kg_array)a, stage + 1, shape)) release(ctx, (kg_array)a, buffers);
}

void kg_arrays_free(kedge_context *ctx, kg_buffer *buffers)
{
  for (int a = KG_ARRAY_COUNT - 1; a >= 0; --a) release(ctx, (kg_array)a, buffers);
}

#include "solver/places.h"

#include <string.h>

#include "core/context.h"

/// What there is to know of the arrays of a solve to place them, looked up once.
typedef struct places {
  size_t bytes[KG_ARRAY_COUNT];     ///< rounded as kg_alloc() rounds
  unsigned stages[KG_ARRAY_COUNT];  ///< bit `stage`: it lives there
  size_t at[KG_ARRAY_COUNT];        ///< where in the memory of K^e it lies; 0: in memory of its own
} places;

/// Where the free end of the memory of K^e begins; 0: there is none.
static size_t free_end(const kg_shape *shape)
{
  if (shape->choice.apart || shape->choice.layout != KG_LAYOUT_REDUCED ||
      shape->choice.iterates == KG_SINGLE)
    return 0;
  const kg_local local = kg_shape_local(shape);
  return kg_rounded(kg_local_bytes(&local));
}

static places look_up(const kg_shape *shape)
{
  places p = {0};
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a) {
    p.bytes[a] = kg_rounded(kg_array_bytes(a, shape));
    for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
      if (p.bytes[a] > 0 && kg_array_lives(a, stage, shape)) p.stages[a] |= 1u << stage;
  }
  return p;
}

/// Whether an array lives in no other stage than assembly and trace solve.
static bool may_share(const places *p, kg_array array)
{
  const unsigned shared = 1u << KEDGE_STAGE_ASSEMBLY | 1u << KEDGE_STAGE_TRACE_SOLVE;
  return array != KG_ARRAY_LOCAL && p->stages[array] != 0 && (p->stages[array] & ~shared) == 0;
}

/// The end of an array that is in the way of `array` at `at`; 0: there is none.
static size_t end_of_obstacle(const places *p, kg_array array, size_t at)
{
  for (kg_array other = 0; other < KG_ARRAY_COUNT; ++other) {
    const size_t begin = p->at[other], end = begin + p->bytes[other];
    const bool together = (p->stages[array] & p->stages[other]) != 0;
    if (together && begin > 0 && begin < at + p->bytes[array] && at < end) return end;
  }
  return 0;
}

/// Whether an array is placed before another one: those of the trace solve, which holds the most,
/// come first, the largest of them before others.
static bool comes_before(const places *p, kg_array array, kg_array other)
{
  const unsigned trace = 1u << KEDGE_STAGE_TRACE_SOLVE;
  const unsigned in = p->stages[array] & trace, other_in = p->stages[other] & trace;
  return in != other_in ? in != 0 : p->bytes[array] > p->bytes[other];
}

/// The next array that has not been tried; KG_ARRAY_COUNT: all have been.
static kg_array next_left(const places *p, const bool *tried)
{
  kg_array next = KG_ARRAY_COUNT;
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a)
    if (!tried[a] && may_share(p, a) && (next == KG_ARRAY_COUNT || comes_before(p, a, next)))
      next = a;
  return next;
}

static places places_of(const kg_shape *shape)
{
  places p = look_up(shape);
  const size_t begin = free_end(shape), end = p.bytes[KG_ARRAY_LOCAL];
  bool tried[KG_ARRAY_COUNT] = {false};
  if (begin == 0) return p;
  for (kg_array a; (a = next_left(&p, tried)) < KG_ARRAY_COUNT; tried[a] = true) {
    size_t at = begin;
    for (size_t next; (next = end_of_obstacle(&p, a, at)) > 0;) at = next;
    if (at + p.bytes[a] <= end) p.at[a] = at;
  }
  return p;
}

static int64_t bytes_of_stage(const places *p, kedge_stage stage)
{
  int64_t bytes = 0;
  for (kg_array a = 0; a < KG_ARRAY_COUNT; ++a)
    if (p->at[a] == 0 && (p->stages[a] & 1u << stage)) bytes += (int64_t)p->bytes[a];
  return bytes;
}

int64_t kg_stage_bytes(kedge_stage stage, const kg_shape *shape)
{
  const places p = places_of(shape);
  return bytes_of_stage(&p, stage);
}

int64_t kg_peak_bytes(const kg_shape *shape)
{
  const places p = places_of(shape);
  int64_t peak = 0;
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage) {
    const int64_t bytes = bytes_of_stage(&p, stage);
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

bool kg_array_is_shared(kg_array array, const kg_shape *shape)
{
  return places_of(shape).at[array] > 0;
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
    if (buffers[a].data || !(p.stages[a] & 1u << stage)) continue;
    if (p.at[a] == 0) {
      KG_TRY(kg_alloc(ctx, p.bytes[a], 1, &buffers[a]));
      continue;
    }
    char *const memory = (char *)buffers[KG_ARRAY_LOCAL].data + p.at[a];
    buffers[a] = (kg_buffer){memory, p.bytes[a]};
    forget(ctx, memory, p.bytes[a]);
  }
  return KEDGE_OK;
}

/// Whether an array lies in the memory of K^e.
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

/// Releases arrays from the last to the first, because K^e come before what lies in their memory.
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

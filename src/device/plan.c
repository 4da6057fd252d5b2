#include "device/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"

enum {
  FIRST = 3,        // attempts with weights of their own
  ATTEMPTS = 2000,  // at most
  NEAR = 500,       // that part above what the fullest phase holds is good enough
  SMALL = 2000,     // arrays of less than that part are
  PHASES = 31,      // at most; as a number, none of them
};

static void point_at(const kg_plan_entry *entry, void *memory)
{
  memcpy(entry->pointer, &memory, sizeof memory);
}

void kg_plan_array(kg_plan *plan, const char *name, size_t count, size_t size, unsigned phases,
                   void *pointer)
{
  const kg_phases *const of = plan->repeats;
  const bool kept = of && !(phases & KG_ANEW) && phases & of->once && phases & of->each;
  phases = (phases & ~KG_ANEW) | (kept ? of->each : 0);
  const kg_plan_entry entry = {name, kg_rounded(count * size), 0, phases, pointer};
  assert(!plan->memory.data);
  point_at(&entry, NULL);
  if (entry.bytes == 0) return;
  assert(phases != 0 && plan->n < KG_PLAN_ARRAYS);
  plan->entry[plan->n++] = entry;
}

/// Numbers that are the same on every machine, in [0, 1).
static double next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / (1 << 24);
}

static int count_bits(unsigned phases)
{
  int n = 0;
  for (; phases; phases &= phases - 1) ++n;
  return n;
}

/// Weights by which arrays are placed, the heaviest first: bytes; or bytes times the number of
/// phases, as arrays that live long leave no holes that way. Later attempts vary these weights, or
/// some of the best so far, from a quarter to four times; of arrays of less than `least` bytes,
/// which fit anywhere, none.
static void weigh(const kg_plan *plan, int attempt, size_t least, const double *best,
                  uint32_t *random, double *weight)
{
  static const double shares[] = {0.1, 0.05, 0.2};
  const bool first = attempt < FIRST, fresh = first || attempt % 2 == 0;
  const double share = first ? 0.0 : fresh ? 1.0 : shares[attempt % 3];
  const int power = first ? attempt : attempt / 2 % FIRST;
  for (int i = 0; i < plan->n; ++i) {
    const kg_plan_entry *e = &plan->entry[i];
    weight[i] = fresh ? (double)e->bytes : best[i];
    for (int k = 0; fresh && k < power; ++k) weight[i] *= count_bits(e->phases);
    if (e->bytes < least) continue;
    const bool varies = next_random(random) < share;
    const double factor = 0.25 + 3.75 * next_random(random);
    if (varies) weight[i] *= factor;
  }
}

/// The lowest place for an array between those that are placed.
/// @param[in] placed  [n_placed] from low to high places
static size_t lowest_place(const kg_plan *plan, const kg_plan_entry *array, const int *placed,
                           int n_placed)
{
  size_t at = 0;
  for (int k = 0; k < n_placed; ++k) {
    const kg_plan_entry *other = &plan->entry[placed[k]];
    if (!(other->phases & array->phases)) continue;
    if (at + array->bytes <= other->at) return at;
    if (other->at + other->bytes > at) at = other->at + other->bytes;
  }
  return at;
}

/// @return bytes of the whole
static size_t place(kg_plan *plan, const double *weight)
{
  int order[KG_PLAN_ARRAYS], placed[KG_PLAN_ARRAYS];
  size_t bytes = 0;
  for (int i = 0; i < plan->n; ++i) {
    int k = i;
    for (; k > 0 && weight[order[k - 1]] < weight[i]; --k) order[k] = order[k - 1];
    order[k] = i;
  }
  for (int i = 0; i < plan->n; ++i) {
    kg_plan_entry *array = &plan->entry[order[i]];
    array->at = plan->apart ? bytes : lowest_place(plan, array, placed, i);
    if (array->at + array->bytes > bytes) bytes = array->at + array->bytes;
    int k = i;
    for (; k > 0 && plan->entry[placed[k - 1]].at > array->at; --k) placed[k] = placed[k - 1];
    placed[k] = order[i];
  }
  return bytes;
}

size_t kg_plan_live_bytes(const kg_plan *plan, unsigned phases)
{
  size_t most = 0;
  for (int phase = 0; phase < PHASES; ++phase) {
    size_t bytes = 0;
    for (int i = 0; i < plan->n; ++i)
      if (plan->entry[i].phases & phases & 1u << phase) bytes += plan->entry[i].bytes;
    if (bytes > most) most = bytes;
  }
  return most;
}

size_t kg_plan_place(kg_plan *plan)
{
  const size_t least = kg_plan_live_bytes(plan, ~0u), enough = least + least / NEAR;
  const int attempts = plan->apart ? 1 : ATTEMPTS;
  double best[KG_PLAN_ARRAYS], weight[KG_PLAN_ARRAYS];
  uint32_t random = 777;
  size_t bytes = SIZE_MAX;
  for (int attempt = 0; attempt < attempts && bytes > enough; ++attempt) {
    weigh(plan, attempt, least / SMALL, best, &random, weight);
    const size_t now = place(plan, weight);
    if (now > bytes) continue;
    bytes = now;
    memcpy(best, weight, sizeof best);
  }
  plan->bytes = place(plan, best);
  return plan->bytes;
}

kg_buffer kg_plan_buffer(const kg_plan *plan, const void *pointer)
{
  for (const kg_plan_entry *e = plan->entry; e < plan->entry + plan->n; ++e)
    if (e->pointer == pointer && plan->memory.data)
      return (kg_buffer){(char *)plan->memory.data + e->at, e->bytes};
  return (kg_buffer){0};
}

static kedge_status watch(kedge_context *ctx, kg_plan *plan)
{
  KG_TRY(kg_host_calloc(ctx, plan->bytes / KG_ALIGNMENT, sizeof *plan->lives, &plan->lives));
  for (int i = 0; i < plan->n; ++i) {
    const kg_plan_entry *e = &plan->entry[i];
    const size_t first = e->at / KG_ALIGNMENT, end = first + e->bytes / KG_ALIGNMENT;
    for (size_t k = first; k < end; ++k) plan->lives[k] |= e->phases;
  }
  return KEDGE_OK;
}

/// Whether arrays have the same names, places and phases.
static bool are_alike(const kg_plan *a, const kg_plan *b)
{
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; ++i) {
    const kg_plan_entry *p = &a->entry[i], *q = &b->entry[i];
    same = strcmp(p->name, q->name) == 0 && p->bytes == q->bytes && p->at == q->at &&
           p->phases == q->phases;
  }
  return same;
}

bool kg_plan_take(kg_plan *plan, kg_plan *from)
{
  const bool same = are_alike(plan, from);
  assert(!plan->memory.data);
  plan->now = PHASES;
  if (!from->memory.data || from->memory.bytes < plan->bytes) return false;
  if (same) plan->now = from->now;
  for (int i = 0; i < from->n; ++i) point_at(&from->entry[i], NULL);
  plan->memory = from->memory;
  from->memory = (kg_buffer){0};
  return same;
}

kedge_status kg_plan_commit(kedge_context *ctx, kg_plan *plan)
{
  if (plan->bytes == 0) return KEDGE_OK;
  if (!plan->memory.data) {
    KG_TRY(kg_alloc(ctx, plan->bytes, 1, &plan->memory));
    plan->now = PHASES;
  }
  for (int i = 0; i < plan->n; ++i)
    point_at(&plan->entry[i], (char *)plan->memory.data + plan->entry[i].at);
  return plan->poison ? watch(ctx, plan) : KEDGE_OK;
}

/// The name of the first array that lies at `at`.
static const char *name_at(const kg_plan *plan, size_t at)
{
  for (int i = 0; i < plan->n; ++i) {
    const kg_plan_entry *e = &plan->entry[i];
    if (e->at <= at && at < e->at + e->bytes) return e->name;
  }
  return "nothing";
}

/// All bits set are a NaN, and -1 as an index.
static kedge_status find_writes(kedge_context *ctx, const kg_plan *plan)
{
  unsigned char untouched[KG_ALIGNMENT];
  memset(untouched, 0xff, sizeof untouched);
  for (size_t at = 0; at < plan->bytes; at += KG_ALIGNMENT) {
    const bool lives = plan->lives[at / KG_ALIGNMENT] & 1u << plan->now;
    KG_REQUIRE(ctx, lives || memcmp((char *)plan->memory.data + at, untouched, KG_ALIGNMENT) == 0,
               KEDGE_ERR_INTERNAL,
               "the array %s was written in phase %d, in which it does not live", name_at(plan, at),
               plan->now);
  }
  return KEDGE_OK;
}

kedge_status kg_plan_enter(kedge_context *ctx, kg_plan *plan, int phase)
{
  if (!plan || !plan->lives) return KEDGE_OK;
  if (plan->now < PHASES) KG_TRY(find_writes(ctx, plan));
  char *const memory = plan->memory.data;
  for (size_t at = 0; at < plan->bytes; at += KG_ALIGNMENT)
    if (!(plan->lives[at / KG_ALIGNMENT] & 1u << phase)) memset(memory + at, 0xff, KG_ALIGNMENT);
  for (int i = 0; i < plan->n; ++i) {
    const kg_plan_entry *e = &plan->entry[i];
    if (e->phases & 1u << phase && !(e->phases & 1u << plan->now))
      memset(memory + e->at, 0xff, e->bytes);
  }
  plan->now = phase;
  return KEDGE_OK;
}

void kg_plan_free(kedge_context *ctx, kg_plan *plan)
{
  if (plan->memory.data)
    for (int i = 0; i < plan->n; ++i) point_at(&plan->entry[i], NULL);
  kg_free(ctx, &plan->memory);
  free(plan->lives);
  *plan = (kg_plan){0};
}

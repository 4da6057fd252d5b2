// Parts of fields on their way to the host.
#include "solution/gather.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/fetch.h"

/// Numbers between two parts that are copied too: each copy from a device costs about the time in
/// which so many numbers follow in one that is under way.
enum { GAP = 8192 };

/// Numbers of a field that follow one another in its memory.
typedef struct stretch {
  size_t begin, end;
} stretch;

/// Find the part of an element, the group of lanes that it lies in, or that of a trace edge.
/// @param[out] lane  where in the part its coefficients begin
static stretch part_of(const kedge_solution *s, kg_held_field field, int32_t number, size_t *lane)
{
  *lane = 0;
  if (field == KG_HELD_TRACE) {
    const size_t m = (size_t)s->m, begin = m * (size_t)number;
    return (stretch){begin, begin + m};
  }
  const kg_results *const r = kg_results_of(s, number);
  const int32_t e = number - r->first_element;
  const size_t numbers = kg_held_rows(r, field) * KG_LANES;
  const size_t of_batch = kg_solution_begin(s, field, (int)(r - s->batch));
  const size_t begin = of_batch + (size_t)(e / KG_LANES) * numbers;
  *lane = (size_t)(e % KG_LANES);
  return (stretch){begin, begin + numbers};
}

/// Lengthen a stretch so that it has a part that comes next. @return false: it is too far
static bool lengthen(stretch *all, stretch part)
{
  if (part.begin > all->end + GAP) return false;
  if (part.end > all->end) all->end = part.end;
  return true;
}

/// Numbers of all stretches that have the parts.
static size_t count(const kedge_solution *s, kg_held_field field, int64_t n, const int32_t *number)
{
  size_t sum = 0, lane;
  stretch all = part_of(s, field, number[0], &lane);
  for (int64_t k = 1; k < n; ++k) {
    const stretch part = part_of(s, field, number[k], &lane);
    if (lengthen(&all, part)) continue;
    sum += all.end - all.begin;
    all = part;
  }
  return sum + (all.end - all.begin);
}

/// Copy the stretches one behind the other.
static kedge_status fetch(const kedge_solution *s, kg_held_field field, int64_t n,
                          const int32_t *number, kg_gathered *out)
{
  const double *const there = kg_solution_there(s, field, 0);
  double *to = out->copy;
  size_t lane;
  stretch all = part_of(s, field, number[0], &lane);
  for (int64_t k = 0; k < n; ++k) {
    const stretch part = part_of(s, field, number[k], &lane);
    if (!lengthen(&all, part)) {
      const size_t numbers = all.end - all.begin;
      KG_TRY(kg_fetch(s->ctx, to, there + all.begin, numbers * sizeof *to));
      to += numbers;
      all = part;
    }
    out->of[k] = to + (part.begin - all.begin) + lane;
  }
  return kg_fetch(s->ctx, to, there + all.begin, (all.end - all.begin) * sizeof *to);
}

kedge_status kg_gather(const kedge_solution *s, kg_held_field field, int64_t n,
                       const int32_t *number, kg_gathered *out)
{
  *out = (kg_gathered){0};
  if (n == 0) return KEDGE_OK;
  KG_TRY(kg_host_alloc(s->ctx, (size_t)n, sizeof *out->of, &out->of));
  if (!s->held[field].is_current) {
    const size_t numbers = count(s, field, n, number);
    if (numbers <= s->held[field].numbers / 2) {
      KG_TRY(kg_host_alloc(s->ctx, numbers, sizeof *out->copy, &out->copy));
      return fetch(s, field, n, number, out);
    }
    KG_TRY(kg_solution_bring(s, 1u << field));
  }
  const double *const here = kg_solution_here(s, field, 0);
  for (int64_t k = 0; k < n; ++k) {
    size_t lane;
    const stretch part = part_of(s, field, number[k], &lane);
    out->of[k] = here + part.begin + lane;
  }
  return KEDGE_OK;
}

void kg_gathered_free(kg_gathered *g)
{
  free(g->of);
  free(g->copy);
  *g = (kg_gathered){0};
}

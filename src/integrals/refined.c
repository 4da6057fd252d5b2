#include "integrals/refined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"

/// The least size beside the largest of which neighbours are looked at.
#define SIZE_OF_NOTE 1e-8

/// The rule integrates data that are smooth to so small a part of what they have of the highest
/// degree that its points see.
#define SMOOTH 1e-2

enum {
  WAVES_MOST = 64,
  STEPS_MOST = 64,  ///< up a hill: what is rough has its like ten times as large beside it
};

/// An item that moves, and what it became.
typedef struct found {
  int32_t item;
  bool is_kept, failed;
  kg_integral integral;
} found;

/// Items that are integrated at once.
typedef struct wave {
  kedge_context *ctx;
  const kg_refining *of;
  bool is_first;  ///< of items that are rough
  int most;       ///< cuts of an item
  int32_t n;
  const int32_t *item;
  found *found;  ///< [n]
  double *sums;  ///< [n][integrals]
} wave;

/// The size that an item is compared with. Of its neighbours as they are seen the largest is looked
/// at next, and so on to the top of a hill: a tail of what is integrated well is nothing beside it,
/// and what is seen of a narrow peak is itself the top. @param[in] most  more need not be found
static double hill_of(const wave *w, int32_t item, double own, double most, double *work)
{
  double top = own;
  for (int step = 0; step < STEPS_MOST && !(top > most); ++step) {
    int32_t near[KG_FACETS_MAX], next = -1;
    const int n = w->of->neighbours(w->of->user, item, near);
    for (int k = 0; k < n; ++k) {
      const double size = kg_integral_size(&w->of->integrand, near[k], work);
      if (size > top) top = size, next = near[k];
    }
    if (next < 0) return top;
    item = next;
  }
  return top;
}

/// Integrate item i, if it moves.
static kedge_status look_at(const wave *w, int32_t i, double *work)
{
  found *const f = &w->found[i];
  const kg_integrand *const of = &w->of->integrand;
  *f = (found){.item = w->item[i], .integral.sums = w->sums + (size_t)i * (size_t)of->n};
  kg_integral_try(of, f->item, work, &f->integral);
  const double size = f->integral.size;
  double scale = size;
  if (!isfinite(f->integral.moved)) return KEDGE_OK;
  if (w->is_first) {
    if (!(f->integral.moved > w->of->least * size)) return KEDGE_OK;
    if (f->integral.moved < SMOOTH * f->integral.rough) return KEDGE_OK;
    const double most = f->integral.moved / w->of->least;
    scale = hill_of(w, f->item, size, most, work + w->of->integrand.n);
    if (!(scale < most)) return KEDGE_OK;
  }
  const bool interval = of->shape(of->user, f->item) == KG_PART_INTERVAL;
  const int levels = w->is_first ? 1 : interval ? 2 * KG_LEVELS_BEFORE : KG_LEVELS_BEFORE;
  KG_TRY(kg_integral_make(w->ctx, of, f->item, scale, levels, w->most, &f->integral));
  f->is_kept = f->integral.size > 0.0;
  f->integral.moved = kg_integral_change(of->n, work, 1, f->integral.sums);
  return KEDGE_OK;
}

static kedge_status look_at_all(const wave *w)
{
  const int n = w->of->integrand.n;
  bool failed = false;
#pragma omp parallel num_threads(kg_loop_threads(w->ctx, w->n, 4096))
  {
    double *work;
    const bool has_work =
        kg_host_alloc(w->ctx, (KG_PARTS_MAX + 1) * (size_t)n, sizeof *work, &work) == KEDGE_OK;
#pragma omp for schedule(dynamic, 1)
    for (int32_t i = 0; i < w->n; ++i) {
      if (has_work && look_at(w, i, work) == KEDGE_OK) continue;
#pragma omp atomic write
      failed = true;
    }
    if (has_work) free(work);
  }
  return failed ? KG_FAIL(w->ctx, KEDGE_ERR_MEMORY, "no memory for integrals of loads by parts")
                : KEDGE_OK;
}

/// Everything that was found, and which items were.
typedef struct gathering {
  const kg_refining *of;
  char *seen;  ///< [item]: was integrated
  int32_t n, room;
  found *found;
  double *sums;
  double largest;
} gathering;

/// Give an array room for more; the n that it has stay.
static kedge_status grow(kedge_context *ctx, size_t n, size_t room, size_t size, void *array)
{
  void **const old = array, *more;
  KG_TRY(kg_host_alloc(ctx, room, size, &more));
  if (n > 0) memcpy(more, *old, n * size);
  free(*old);
  *old = more;
  return KEDGE_OK;
}

static kedge_status make_room(kedge_context *ctx, gathering *g, int32_t n)
{
  const size_t integrals = (size_t)g->of->integrand.n, has = (size_t)g->n;
  if (g->n + n <= g->room) return KEDGE_OK;
  g->room += g->n + n;
  const size_t room = (size_t)g->room;
  KG_TRY(grow(ctx, has, room, sizeof *g->found, &g->found));
  KG_TRY(grow(ctx, has * integrals, room * integrals, sizeof *g->sums, &g->sums));
  for (size_t i = 0; i < has; ++i) g->found[i].integral.sums = g->sums + i * integrals;
  return KEDGE_OK;
}

/// A bound of work, by what parts cost.
static int32_t bound(const kg_refining *of, int32_t most)
{
  return of->cost > 0 ? most / of->cost : most;
}

/// Integrate items, and keep those that move. @param[out] from  the first of them
static kedge_status run_wave(kedge_context *ctx, gathering *g, int32_t n, const int32_t *item,
                             bool is_first)
{
  const int integrals = g->of->integrand.n;
  KG_TRY(make_room(ctx, g, n));
  int most = n > 0 ? bound(g->of, KG_CUTS_MOST_ALL) / n : 0;
  if (most > KG_CUTS_MOST) most = KG_CUTS_MOST;
  if (most < bound(g->of, KG_CUTS_LEAST)) most = bound(g->of, KG_CUTS_LEAST);
  const wave w = {ctx, g->of, is_first,        most,
                  n,   item,  g->found + g->n, g->sums + (size_t)g->n * (size_t)integrals};
  KG_TRY(look_at_all(&w));
  for (int32_t i = 0; i < n; ++i) {
    const found f = w.found[i];
    if (!is_first || f.is_kept) g->seen[f.item] = 1;
    if (!f.is_kept) continue;
    found *const to = &g->found[g->n];
    double *const sums = g->sums + (size_t)g->n * (size_t)integrals;
    memmove(sums, f.integral.sums, (size_t)integrals * sizeof *sums);
    *to = f;
    to->integral.sums = sums;
    if (f.integral.size > g->largest) g->largest = f.integral.size;
    ++g->n;
  }
  return KEDGE_OK;
}

static int compare_items(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/// The neighbours of those found from `from` on that turned out to be far more than was seen.
/// @param[out] next  [room]
static int32_t neighbours_of(const gathering *g, int32_t from, int32_t *next)
{
  int32_t n = 0;
  for (int32_t i = from; i < g->n; ++i) {
    const found *const f = &g->found[i];
    int32_t near[KG_FACETS_MAX];
    if (f->integral.size < 2.0 * f->integral.seen) continue;
    if (f->integral.size < SIZE_OF_NOTE * g->largest) continue;
    const int n_near = g->of->neighbours(g->of->user, f->item, near);
    for (int k = 0; k < n_near; ++k)
      if (!g->seen[near[k]]) next[n++] = near[k];
  }
  qsort(next, (size_t)n, sizeof *next, compare_items);
  int32_t kept = 0;
  for (int32_t i = 0; i < n; ++i)
    if (i == 0 || next[i] != next[i - 1]) next[kept++] = next[i];
  return kept;
}

static kedge_status run_waves(kedge_context *ctx, gathering *g, int32_t n, const int32_t *rough)
{
  KG_TRY(run_wave(ctx, g, n, rough, true));
  for (int32_t from = 0, k = 0; k < WAVES_MOST && from < g->n; ++k) {
    int32_t *next;
    KG_TRY(kg_host_alloc(ctx, (size_t)(g->n - from) * KG_FACETS_MAX, sizeof *next, &next));
    const int32_t n_next = neighbours_of(g, from, next);
    from = g->n;
    const kedge_status status = n_next > 0 ? run_wave(ctx, g, n_next, next, false) : KEDGE_OK;
    free(next);
    KG_TRY(status);
  }
  return KEDGE_OK;
}

static int compare_found(const void *a, const void *b)
{
  return compare_items(&((const found *)a)->item, &((const found *)b)->item);
}

/// Write the integrals by parts, in the order of the items (elements or facets). Items whose change
/// by parts is next to nothing beside the mean integral keep the common quadrature rule.
static kedge_status finish(kedge_context *ctx, gathering *g, kg_refined *out)
{
  const size_t n = (size_t)g->of->integrand.n;
  double whole = 0.0;
  for (int32_t i = 0; i < g->n; ++i) whole += g->found[i].integral.size;
  const double least = g->of->least * fmax(whole, g->of->whole) / g->of->n_items;
  KG_TRY(kg_host_alloc(ctx, (size_t)g->n, sizeof *out->item, &out->item));
  KG_TRY(kg_host_alloc(ctx, (size_t)g->n * n, sizeof *out->sums, &out->sums));
  qsort(g->found, (size_t)g->n, sizeof *g->found, compare_found);
  for (int32_t i = 0; i < g->n; ++i) {
    const kg_integral *const f = &g->found[i].integral;
    if (!(f->moved > least)) continue;
    out->item[out->n] = g->found[i].item;
    memcpy(out->sums + (size_t)out->n * n, f->sums, n * sizeof *f->sums);
    ++out->n;
    out->size += f->size;
    out->moved += f->moved;
    if (!f->is_bounded) continue;
    out->left += f->left;
    if (f->left > out->worst_left) out->worst = g->found[i].item, out->worst_left = f->left;
  }
  return KEDGE_OK;
}

/// What items move by that are tried and not integrated: all of them, or a sample that stands for
/// all.
static kedge_status add_untried(kedge_context *ctx, const kg_refining *of, int32_t n,
                                const int32_t *rough, kg_refined *out)
{
  enum { SAMPLE = 1024 };
  const int32_t samples = n < SAMPLE ? n : SAMPLE;
  const double each = (double)n / samples;
  double *work, moving = 0.0;
  KG_TRY(kg_host_alloc(ctx, (KG_PARTS_MAX + 1) * (size_t)of->integrand.n, sizeof *work, &work));
  for (int32_t i = 0; i < samples; ++i) {
    kg_integral one = {0};
    const int32_t item = rough[(int64_t)i * n / samples];
    kg_integral_try(&of->integrand, item, work, &one);
    if (!isfinite(one.moved)) continue;
    out->size += one.size * each;
    if (!(one.moved > of->least * one.size)) continue;
    moving += each;
    out->left += one.moved * each;
    if (one.moved > out->worst_left) out->worst = item, out->worst_left = one.moved;
  }
  out->untried = (int64_t)moving;
  free(work);
  return KEDGE_OK;
}

/// An item, and the part of highest degree that its points see.
typedef struct candidate {
  int32_t item;
  double rough;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
  const candidate *const x = a, *const y = b;
  const int by_amount = (x->rough < y->rough) - (x->rough > y->rough);
  return by_amount ? by_amount : compare_items(&x->item, &y->item);
}

/// Order items: the `tried` roughest come first; these and the others ascend.
static kedge_status put_roughest_first(kedge_context *ctx, const kg_refining *of, int32_t n,
                                       int32_t tried, int32_t *items)
{
  candidate *all;
  bool failed = false;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *all, &all));
#pragma omp parallel num_threads(kg_loop_threads(ctx, n, 1024))
  {
    double *sums;
    const bool has_sums =
        kg_host_alloc(ctx, (size_t)of->integrand.n, sizeof *sums, &sums) == KEDGE_OK;
#pragma omp for schedule(static)
    for (int32_t i = 0; i < n; ++i) {
      const kg_part whole = kg_whole_part(of->integrand.shape(of->integrand.user, items[i]));
      double size, rough = 0.0;
      if (has_sums) of->integrand.sum(of->integrand.user, items[i], 1, &whole, sums, &size, &rough);
      all[i] = (candidate){items[i], isfinite(rough) ? rough : 0.0};
    }
    if (has_sums) free(sums);
    if (!has_sums) {
#pragma omp atomic write
      failed = true;
    }
  }
  qsort(all, (size_t)n, sizeof *all, compare_candidates);
  for (int32_t i = 0; i < n; ++i) items[i] = all[i].item;
  qsort(items, (size_t)tried, sizeof *items, compare_items);
  qsort(items + tried, (size_t)(n - tried), sizeof *items, compare_items);
  free(all);
  return failed ? KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for integrals of loads by parts")
                : KEDGE_OK;
}

kedge_status kg_refine(kedge_context *ctx, const kg_refining *of, int32_t n, int32_t *rough,
                       kg_refined *out)
{
  gathering g = {.of = of};
  *out = (kg_refined){0};
  if (n == 0) return KEDGE_OK;
  if (of->judges) return add_untried(ctx, of, n, rough, out);
  const int32_t most = bound(of, KG_TRIED_MOST), tried = n < most ? n : most;
  if (n > tried) KG_TRY(put_roughest_first(ctx, of, n, tried, rough));
  KG_TRY(kg_host_calloc(ctx, (size_t)of->n_items, sizeof *g.seen, &g.seen));
  kedge_status status = run_waves(ctx, &g, tried, rough);
  if (status == KEDGE_OK && g.n > 0) status = finish(ctx, &g, out);
  if (status == KEDGE_OK && n > tried) status = add_untried(ctx, of, n - tried, rough + tried, out);
  if (status != KEDGE_OK) kg_refined_free(out);
  free(g.sums);
  free(g.found);
  free(g.seen);
  return status;
}

void kg_refined_free(kg_refined *refined)
{
  free(refined->item);
  free(refined->sums);
  *refined = (kg_refined){0};
}

int32_t kg_refined_from(const kg_refined *refined, int32_t item)
{
  int32_t first = 0, end = refined->n;
  while (first < end) {
    const int32_t i = first + (end - first) / 2;
    if (refined->item[i] < item)
      first = i + 1;
    else
      end = i;
  }
  return first;
}

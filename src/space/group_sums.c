#include "space/group_sums.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "space/line_sides.h"

size_t kg_grouped_numbers(const kg_grouped_count *c)
{
  const size_t lanes = KG_LANES / sizeof(int32_t);
  return (size_t)c->n_facets + 3 * (size_t)c->n_runs + 2 + lanes * (size_t)c->n_mixed;
}

kg_region_runs kg_grouped_at(const kg_grouped_count *c, const int32_t *list, const kg_side **side)
{
  kg_region_runs runs = {.n = c->n_runs, .n_records = c->n_records, .n_mixed = c->n_mixed};
  *side = (const kg_side *)list;
  runs.first = list + c->n_facets;
  runs.record = runs.first + c->n_runs + 1;
  runs.mixed = runs.record + c->n_runs + 1;
  runs.slot = (const uint8_t *)(runs.mixed + c->n_runs);
  return runs;
}

void kg_grouped_free(kg_grouped *grouped)
{
  free(grouped->list);
  free(grouped->edge);
  free(grouped->region);
  *grouped = (kg_grouped){0};
}

/// The first group of regions, which come last.
static int first_region(const kedge_mesh *mesh)
{
  int first = mesh->n_groups;
  while (first > 0 && !kg_is_edge_group(mesh, &mesh->groups[first - 1])) --first;
  return first;
}

/// The group of a region's tag: tags ascend.
static int32_t region_of(const kedge_mesh *mesh, int first, int32_t tag)
{
  int last = mesh->n_groups - 1;
  while (first < last) {
    const int middle = first + (last - first) / 2;
    if (mesh->groups[middle].tag < tag)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

/// The regions of a lane group, in the order of their first elements.
typedef struct group_regions {
  int n;
  int32_t tag[KG_LANES];
  uint8_t slot[KG_LANES];  ///< [lane]
} group_regions;

static group_regions regions_of(const kedge_mesh *mesh, const kg_lane_batch *batch, int32_t group)
{
  const int32_t *const tag = mesh->element_region + batch->first_element + group * KG_LANES;
  const int32_t left = batch->n_elements - group * KG_LANES;
  group_regions r = {0};
  for (int lane = 0; lane < KG_LANES && lane < left; ++lane) {
    int k = 0;
    while (k < r.n && r.tag[k] != tag[lane]) ++k;
    if (k == r.n) r.tag[r.n++] = tag[lane];
    r.slot[lane] = (uint8_t)k;
  }
  return r;
}

/// What walks over the groups: it counts, and where there is a list, fills it.
typedef struct walk {
  const kedge_mesh *mesh;
  int first_region;
  kg_grouped_count n;
  int32_t *first, *record, *mixed, *region;  ///< NULL: they are only counted
  uint8_t *slot;
  int32_t last_tag;  ///< of the run that may go on
  int32_t length;    ///< of that run; 0: none may
} walk;

static void add_group(walk *w, int32_t group, const group_regions *r)
{
  if (r->n == 1 && w->length > 0 && w->length < KG_RUN_GROUPS && r->tag[0] == w->last_tag) {
    ++w->length;
    return;
  }
  const bool mixed = r->n > 1;
  if (w->first) {
    w->first[w->n.n_runs] = group;
    w->record[w->n.n_runs] = w->n.n_records;
    w->mixed[w->n.n_runs] = mixed ? w->n.n_mixed * KG_LANES : -1;
    for (int k = 0; k < r->n; ++k)
      w->region[w->n.n_records + k] = region_of(w->mesh, w->first_region, r->tag[k]);
    for (int lane = 0; mixed && lane < KG_LANES; ++lane)
      w->slot[w->n.n_mixed * KG_LANES + lane] = r->slot[lane];
  }
  ++w->n.n_runs;
  w->n.n_records += r->n;
  w->n.n_mixed += mixed;
  w->length = mixed ? 0 : 1;
  w->last_tag = r->tag[0];
}

static void walk_over(walk *w, const kg_lane_batches *batches)
{
  const bool single = w->mesh->n_groups - w->first_region == 1;
  const group_regions one = {.n = 1, .tag = {w->mesh->element_region[0]}};
  int32_t end = 0;
  for (const kg_lane_batch *b = batches->batch; b < batches->batch + batches->n; ++b) {
    w->length = 0;
    for (int32_t g = 0; g * KG_LANES < b->n_elements; ++g) {
      const group_regions r = single ? one : regions_of(w->mesh, b, g);
      add_group(w, b->first_group + g, &r);
      end = b->first_group + g + 1;
    }
    // Groups that a batch leaves empty belong to no run: the next batch begins one.
    if (w->first) w->first[w->n.n_runs] = end;
  }
  if (w->first) w->record[w->n.n_runs] = w->n.n_records;
}

typedef struct listed {
  kg_side side;
  int32_t edge;
} listed;

static int compare_sides(const void *a, const void *b)
{
  const kg_side x = ((const listed *)a)->side, y = ((const listed *)b)->side;
  return (x > y) - (x < y);
}

static kedge_status list_facets(kedge_context *ctx, const kedge_mesh *mesh, kg_grouped *out)
{
  const int32_t n = out->count.n_facets;
  kg_side *const side = (kg_side *)out->list;
  listed *facets;
  KG_TRY(kg_line_sides(ctx, mesh, n, mesh->group_edges, side));
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *facets, &facets));
  for (int32_t i = 0; i < n; ++i) facets[i] = (listed){side[i], mesh->group_edges[i]};
  qsort(facets, (size_t)n, sizeof *facets, compare_sides);
  for (int32_t i = 0; i < n; ++i) {
    side[i] = facets[i].side;
    out->edge[i] = facets[i].edge;
  }
  free(facets);
  return KEDGE_OK;
}

kedge_status kg_grouped_create(kedge_context *ctx, const kedge_mesh *mesh,
                               const kg_lane_batches *batches, kg_grouped *out)
{
  walk w = {.mesh = mesh, .first_region = first_region(mesh)};
  *out = (kg_grouped){0};
  walk_over(&w, batches);
  out->count = w.n;
  out->count.n_facets = mesh->n_group_edges;
  KG_TRY(kg_host_alloc(ctx, kg_grouped_numbers(&out->count), sizeof *out->list, &out->list));
  KG_TRY(kg_host_alloc(ctx, (size_t)out->count.n_facets, sizeof *out->edge, &out->edge));
  KG_TRY(kg_host_alloc(ctx, (size_t)out->count.n_records, sizeof *out->region, &out->region));
  out->runs = kg_grouped_at(&out->count, out->list, &out->side);
  w = (walk){.mesh = mesh,
             .first_region = first_region(mesh),
             .first = (int32_t *)out->runs.first,
             .record = (int32_t *)out->runs.record,
             .mixed = (int32_t *)out->runs.mixed,
             .slot = (uint8_t *)out->runs.slot,
             .region = out->region};
  walk_over(&w, batches);
  return list_facets(ctx, mesh, out);
}

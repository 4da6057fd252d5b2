#include "space/trace_layout.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"

/// Counts of a patch.
typedef struct patch_count {
  int32_t first[KG_SECTION_COUNT];  ///< edges that appear first in this patch
  int32_t halo;
} patch_count;

static int32_t patch_of(const kg_lane_batches *batches, kg_side side)
{
  const int32_t e = kg_side_element(side);
  const kg_lane_batch *b = kg_batch_of_element(batches, e);
  return b->first_patch + (e - b->first_element) / batches->patch_elements;
}

static kg_section section_of(const kedge_mesh *mesh, const bool *is_dirichlet,
                             const kg_lane_batches *batches, int32_t edge)
{
  const kg_side *sides = mesh->edge_sides + 2 * (size_t)edge;
  if (sides[1] == KG_NO_SIDE)
    return is_dirichlet[mesh->edge_group[edge]] ? KG_SECTION_DIRICHLET : KG_SECTION_NEUMANN;
  return patch_of(batches, sides[0]) == patch_of(batches, sides[1]) ? KG_SECTION_INSIDE
                                                                    : KG_SECTION_SHARED;
}

/// Walk the sides of a patch; note the section of every edge that appears for the first time.
static patch_count count_patch(const kedge_mesh *mesh, const bool *is_dirichlet,
                               const kg_lane_batches *batches, int32_t p, uint8_t *edge_section)
{
  patch_count count = {0};
  const kg_lane_batch *batch = kg_batch_of_patch(batches, p);
  int32_t begin, end;
  kg_patch_range(batches, batch, p, &begin, &end);
  for (int32_t e = begin; e < end; ++e) {
    const uint32_t *edges = kg_element_edges(mesh, e);
    for (int l = 0; l < batch->n_facets; ++l) {
      const int32_t edge = (int32_t)(edges[l] >> 1);
      const kg_section section = section_of(mesh, is_dirichlet, batches, edge);
      count.halo += section != KG_SECTION_INSIDE;
      if (mesh->edge_sides[2 * (size_t)edge] != kg_side_of(e, l)) continue;
      ++count.first[section];
      edge_section[edge] = (uint8_t)section;
    }
  }
  return count;
}

/// Turn the counts of the patches into first numbers, section after section.
static void add_up(kg_trace_layout *layout, const patch_count *patches)
{
  kg_trace_counts *n = &layout->count;
  int32_t edge = 0, *first = layout->section_first, end[KG_SECTION_COUNT];
  for (int s = 0; s < KG_SECTION_COUNT; ++s) {
    for (int32_t p = 0; p < n->n_patches; ++p) {
      *first++ = edge;
      edge += patches[p].first[s];
    }
    *first++ = end[s] = edge;
  }
  n->n_interior = end[KG_SECTION_INSIDE];
  n->n_shared = end[KG_SECTION_SHARED] - end[KG_SECTION_INSIDE];
  n->n_neumann = end[KG_SECTION_NEUMANN] - end[KG_SECTION_SHARED];
  n->n_free = end[KG_SECTION_NEUMANN];
  for (int32_t p = 0; p < n->n_patches; ++p) {
    const int32_t halo = patches[p].halo, local = patches[p].first[KG_SECTION_INSIDE] + halo;
    layout->patch_halo[p] = n->n_halo;
    n->n_halo += halo;
    if (local > n->max_local) n->max_local = local;
    if (halo > n->max_halo) n->max_halo = halo;
  }
  layout->patch_halo[n->n_patches] = n->n_halo;
}

static kedge_status count_all(kedge_context *ctx, const kedge_mesh *mesh, const bool *is_dirichlet,
                              kg_trace_layout *layout)
{
  const size_t n_patches = (size_t)layout->count.n_patches;
  KG_TRY(kg_host_alloc(ctx, (size_t)mesh->n_edges, 1, &layout->edge_section));
  KG_TRY(kg_host_alloc(ctx, KG_SECTION_COUNT * (n_patches + 1), sizeof(int32_t),
                       &layout->section_first));
  KG_TRY(kg_host_alloc(ctx, n_patches + 1, sizeof(int32_t), &layout->patch_halo));
  patch_count *patches;
  KG_TRY(kg_host_alloc(ctx, n_patches, sizeof *patches, &patches));
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, mesh->n_elements, 1))
  for (int32_t p = 0; p < layout->count.n_patches; ++p)
    patches[p] = count_patch(mesh, is_dirichlet, &layout->batches, p, layout->edge_section);
  add_up(layout, patches);
  free(patches);
  return KEDGE_OK;
}

/// The last shape so far has the lanes up to `end`.
static void extend_lanes(int32_t end, kg_lane_runs *lanes)
{
  if (lanes->run[1].n_lanes > 0)
    lanes->run[1].n_lanes = end - lanes->run[1].first_lane;
  else
    *lanes = kg_lanes_of_one_shape(lanes->run[0].cell, lanes->run[0].n_facets, end);
}

/// Lanes from `begin` to `end` are of this shape; those before belong to the shapes before.
static void append_lanes(const kg_cell *cell, int32_t begin, int32_t end, kg_lane_runs *lanes)
{
  const int index = kg_cell_index(cell);
  if (begin == 0) {
    *lanes = kg_lanes_of_one_shape(index, cell->n_facets, end);
    return;
  }
  extend_lanes(begin, lanes);
  if (lanes->run[1].cell == index) {
    extend_lanes(end, lanes);
    return;
  }
  assert(lanes->run[1].n_lanes == 0);
  const kg_lane_run before = lanes->run[0];
  const int words = kg_code_words(before.n_facets);
  lanes->run[1] = (kg_lane_run){.cell = index,
                                .n_facets = cell->n_facets,
                                .first_lane = begin,
                                .n_lanes = end - begin,
                                .sides_shift = begin * (before.n_facets - cell->n_facets),
                                .codes_shift = begin * (words - kg_code_words(cell->n_facets))};
}

/// Append a batch of elements of a shape.
static void append_batch(const kg_cell *cell, int32_t n_elements, bool is_last,
                         kg_trace_layout *layout)
{
  kg_trace_counts *n = &layout->count;
  kg_lane_batches *batches = &layout->batches;
  const int32_t n_groups = (n_elements + KG_LANES - 1) / KG_LANES;
  const int32_t n_patches = (n_groups + n->patch_groups - 1) / n->patch_groups;
  const int32_t first_group = n->n_patches * n->patch_groups;
  batches->batch[batches->n++] =
      (kg_lane_batch){.cell = cell,
                      .n_facets = cell->n_facets,
                      .first_element = n->n_elements,
                      .n_elements = n_elements,
                      .first_side = n->n_sides,
                      .first_patch = n->n_patches,
                      .n_patches = n_patches,
                      .first_group = first_group,
                      .n_groups = is_last ? n_groups : n_patches * n->patch_groups};
  n->n_groups = first_group + n_groups;
  append_lanes(cell, first_group * KG_LANES, n->n_groups * KG_LANES, &n->lanes);
  n->n_patches += n_patches;
  n->n_elements += n_elements;
  n->n_sides += (int64_t)cell->n_facets * n_elements;
}

/// Append a batch of the elements up to `end`.
static kedge_status add_batch(kedge_context *ctx, const kedge_mesh *mesh, int32_t end,
                              kg_trace_layout *layout)
{
  const int32_t first = layout->count.n_elements;
  KG_REQUIRE(ctx, layout->batches.n < KG_BATCHES_MAX, KEDGE_ERR_INTERNAL, "more than %d batches",
             KG_BATCHES_MAX);
  append_batch(kg_block_of(mesh, first)->cell, end - first, end == mesh->n_elements, layout);
  return KEDGE_OK;
}

/// Batches end where a block or a cut does.
static kedge_status add_batches(kedge_context *ctx, const kedge_mesh *mesh, int n_cuts,
                                const int32_t *cut, kg_trace_layout *layout)
{
  for (int k = 0, i = 0; k < mesh->n_blocks; ++k) {
    const int32_t first = mesh->block[k].first, end = first + mesh->block[k].n;
    for (; i < n_cuts && cut[i] < end; ++i)
      if (cut[i] > first) KG_TRY(add_batch(ctx, mesh, cut[i], layout));
    KG_TRY(add_batch(ctx, mesh, end, layout));
  }
  return KEDGE_OK;
}

kedge_status kg_trace_layout_create(kedge_context *ctx, const kedge_mesh *mesh,
                                    const bool *is_dirichlet, int patch_groups, int n_cuts,
                                    const int32_t *cut, kg_trace_layout *out)
{
  *out = (kg_trace_layout){0};
  KG_REQUIRE(ctx, patch_groups >= 1 && patch_groups <= KG_PATCH_GROUPS_MAX, KEDGE_ERR_INTERNAL,
             "a patch of %d groups", patch_groups);
  out->count = (kg_trace_counts){.patch_groups = patch_groups, .n_edges = mesh->n_edges};
  out->batches.patch_elements = patch_groups * KG_LANES;
  KG_TRY(add_batches(ctx, mesh, n_cuts, cut, out));
  const kedge_status status = count_all(ctx, mesh, is_dirichlet, out);
  if (status != KEDGE_OK) kg_trace_layout_free(out);
  return status;
}

void kg_trace_layout_grow(kg_trace_layout *layout, const int32_t *n_elements, int64_t rim,
                          int64_t grown_rim)
{
  const kg_trace_counts before = layout->count;
  const kg_lane_batches batches = layout->batches;
  kg_trace_counts *const n = &layout->count;
  kg_trace_layout_free(layout);
  *n = (kg_trace_counts){.patch_groups = before.patch_groups,
                         .max_local = before.max_local,
                         .max_halo = before.max_halo};
  layout->batches.patch_elements = batches.patch_elements;
  for (int i = 0; i < batches.n; ++i)
    append_batch(batches.batch[i].cell, n_elements[i], i + 1 == batches.n, layout);
  const int64_t boundary = (before.n_edges - before.n_interior - before.n_shared) * grown_rim / rim;
  n->n_neumann = (int32_t)(before.n_neumann * grown_rim / rim);
  n->n_edges = (int32_t)((n->n_sides + boundary) / 2);
  n->n_halo = (int32_t)llround((double)before.n_halo / before.n_elements * n->n_elements);
  n->n_shared = (int32_t)((n->n_halo - boundary) / 2);
  n->n_interior = (int32_t)(n->n_edges - boundary - n->n_shared);
  n->n_free = n->n_interior + n->n_shared + n->n_neumann;
}

void kg_trace_layout_free(kg_trace_layout *layout)
{
  free(layout->edge_section);
  free(layout->section_first);
  free(layout->patch_halo);
  *layout = (kg_trace_layout){0};
}

kedge_status kg_trace_boundary(kedge_context *ctx, const kg_trace_layout *layout, int32_t **out)
{
  const kg_trace_counts *n = &layout->count;
  const int32_t *first[KG_SECTION_COUNT];
  for (int s = 0; s < KG_SECTION_COUNT; ++s) first[s] = kg_section_first(layout, (kg_section)s);
  const int32_t begin = first[KG_SECTION_NEUMANN][0];
  KG_TRY(kg_host_alloc(ctx, (size_t)(n->n_edges - begin), sizeof **out, out));
  int32_t edge = 0;  // of the mesh: the first that appears in the patch
  for (int32_t p = 0; p < n->n_patches; ++p) {
    int32_t next[KG_SECTION_COUNT], end = edge;
    for (int s = 0; s < KG_SECTION_COUNT; ++s) {
      next[s] = first[s][p];
      end += first[s][p + 1] - next[s];
    }
    const bool inside = first[KG_SECTION_NEUMANN][p + 1] == next[KG_SECTION_NEUMANN] &&
                        first[KG_SECTION_DIRICHLET][p + 1] == next[KG_SECTION_DIRICHLET];
    for (; !inside && edge < end; ++edge) {
      const int section = layout->edge_section[edge];
      if (section >= KG_SECTION_NEUMANN) (*out)[next[section]++ - begin] = edge;
    }
    edge = end;
  }
  return KEDGE_OK;
}

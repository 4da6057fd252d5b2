/// @file
/// The arrays that operators read of the mesh (kg_trace_arrays), made in device memory from the
/// mesh's own connectivity and the counts of the trace layout.
///
/// Two passes over the patches, each with one writer for every word:
///   1. Edges that appear first in patch p are consecutive in the mesh. Walk them; an edge of
///      section s gets the next number of that section, from section_first[s][p] on.
///   2. Walk the elements of the patch, the sides of each. An edge inside the patch is known by
///      its number alone; any other gets the next halo entry, from patch_halo[p] on. Lanes of a
///      batch beyond its last element repeat it.
#pragma once
#include "core/inline.h"
#include "device/plan.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// The connectivity of a mesh in device memory (mesh/mesh.h, space/trace_layout.h).
typedef struct kg_connectivity {
  int32_t *element_vertices;  ///< packed
  uint32_t *side_edge;        ///< packed: mesh edge << 1 | reversed
  kg_side *edge_sides;        ///< [mesh edge][2]
  uint8_t *edge_section;      ///< [mesh edge]
  int32_t *section_first;     ///< [section][patch + 1]
  int32_t *trace_of_edge;     ///< [mesh edge]: written by the first pass
} kg_connectivity;

/// Arrays of a batch's lanes that the operator writes: see kg_trace_arrays.
typedef struct kg_lane_arrays {
  int32_t *vertex;
  uint32_t *side_edge;
  uint32_t *side_codes;  ///< NULL: these and the halo are not wanted, of any batch
} kg_lane_arrays;

typedef struct kg_trace_arrays_args {
  kg_trace_counts count;
  kg_lane_batches batches;
  kg_connectivity mesh;
  kg_lane_arrays lanes[KG_BATCHES_MAX];
  kg_side *edge_sides;
  const int32_t *patch_halo;  ///< [patch + 1]: read
  uint32_t *halo_edge;
} kg_trace_arrays_args;

void kg_connectivity_declare(kg_plan *plan, const kg_trace_counts *count, unsigned phases,
                             kg_connectivity *to);
/// Copy all but trace_of_edge to `to`.
kedge_status kg_connectivity_put(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kg_trace_layout *layout, const kg_connectivity *to);

KG_DECLARE_OPERATOR(kg_trace_arrays_fill, kg_trace_arrays_args);
kg_cost kg_trace_arrays_cost(const kg_trace_counts *count);

/// The first numbers of a walk over the edges of a patch.
typedef struct kg_patch_edges {
  int32_t begin, end;              ///< mesh edges that appear first in the patch
  int32_t next[KG_SECTION_COUNT];  ///< next trace edge of each section
} kg_patch_edges;

KG_INLINE kg_patch_edges kg_edges_of_patch(const kg_trace_arrays_args *a, int32_t p)
{
  kg_patch_edges edges = {0, 0, {0}};
  const int32_t *first = a->mesh.section_first;
  for (int s = 0; s < KG_SECTION_COUNT; ++s, first += a->count.n_patches + 1) {
    edges.next[s] = first[p];
    edges.begin += first[p] - first[0];
    edges.end += first[p + 1] - first[0];
  }
  return edges;
}

/// The side of the lane of an element, which may be KG_NO_SIDE.
KG_INLINE kg_side kg_side_of_lane(const kg_trace_arrays_args *a, kg_side side)
{
  if (side == KG_NO_SIDE || a->batches.n == 1) return side;
  return kg_side_of(kg_lane_of(&a->batches, kg_side_element(side)), kg_side_facet(side));
}

/// An edge gets its number.
KG_INLINE void kg_number_edge(const kg_trace_arrays_args *a, int32_t edge, int32_t trace)
{
  a->mesh.trace_of_edge[edge] = trace;
  a->edge_sides[2 * (int64_t)trace] = kg_side_of_lane(a, a->mesh.edge_sides[2 * (int64_t)edge]);
  a->edge_sides[2 * (int64_t)trace + 1] =
      kg_side_of_lane(a, a->mesh.edge_sides[2 * (int64_t)edge + 1]);
}

/// An element as the second pass finds it.
typedef struct kg_patch_element {
  int64_t place;                 ///< of its first side in the packed arrays of the mesh
  int32_t trace[KG_FACETS_MAX];  ///< edges of its sides
  bool reversed[KG_FACETS_MAX];  ///< the side runs against its edge
  bool second[KG_FACETS_MAX];    ///< the side is the higher one of its edge
  bool in_halo[KG_FACETS_MAX];   ///< the edge is not inside the patch
} kg_patch_element;

KG_INLINE kg_patch_element kg_element_of_patch(const kg_trace_arrays_args *a,
                                               const kg_lane_batch *b, int32_t e)
{
  kg_patch_element element;
  element.place = b->first_side + (int64_t)(e - b->first_element) * b->n_facets;
  for (int l = 0; l < KG_FACETS_MAX; ++l) {
    element.in_halo[l] = false;
    if (l >= b->n_facets) continue;
    const uint32_t both = a->mesh.side_edge[element.place + l];
    const int64_t edge = both >> 1;
    element.trace[l] = a->mesh.trace_of_edge[edge];
    element.reversed[l] = (both & 1u) != 0;
    element.second[l] = a->mesh.edge_sides[2 * edge] != kg_side_of(e, l);
    element.in_halo[l] = element.trace[l] >= a->count.n_interior;
  }
  return element;
}

/// Write what is known of an element of batch k and patch p; `entry` is the first of its halo
/// entries.
KG_INLINE void kg_put_element(const kg_trace_arrays_args *a, int k, int32_t p, int32_t e,
                              const kg_patch_element *element, int32_t entry)
{
  const kg_lane_arrays *to = &a->lanes[k];
  const int n_facets = a->batches.batch[k].n_facets;
  const int32_t lane = e - a->batches.batch[k].first_element;
  const int32_t first_edge = a->mesh.section_first[p];
  const int32_t n_inside = a->mesh.section_first[p + 1] - first_edge;
  int32_t code[KG_FACETS_MAX] = {0};
  for (int l = 0; l < KG_FACETS_MAX; ++l) {
    if (l >= n_facets) continue;
    const int64_t at = kg_lane_side(n_facets, lane, l);
    const int32_t trace = element->trace[l];
    to->vertex[at] = a->mesh.element_vertices[element->place + l];
    to->side_edge[at] = (uint32_t)trace << 1 | (uint32_t)element->reversed[l];
    if (!to->side_codes) continue;
    code[l] = 2 * (trace - first_edge) + element->second[l];
    if (element->in_halo[l]) {
      code[l] = 2 * (n_inside + (entry - a->patch_halo[p]));
      a->halo_edge[entry++] = (uint32_t)trace << 1 | (uint32_t)element->second[l];
    }
  }
  if (to->side_codes) kg_put_side_codes(to->side_codes, n_facets, lane, code);
}

/// An empty lane of batch k repeats its last element.
KG_INLINE void kg_pad_lane(const kg_trace_arrays_args *a, int k, int32_t lane)
{
  const kg_lane_arrays *to = &a->lanes[k];
  const int n = a->batches.batch[k].n_facets, words = kg_code_words(n);
  const int32_t last = a->batches.batch[k].n_elements - 1;
  for (int l = 0; l < n; ++l) {
    to->vertex[kg_lane_side(n, lane, l)] = to->vertex[kg_lane_side(n, last, l)];
    to->side_edge[kg_lane_side(n, lane, l)] = to->side_edge[kg_lane_side(n, last, l)];
  }
  for (int i = 0; to->side_codes && i < words; ++i)
    to->side_codes[words * (int64_t)lane + i] = to->side_codes[words * (int64_t)last + i];
}

KEDGE_END_DECLS

/// @file
/// The arrays that operators read of the mesh (kg_trace_arrays), made in device memory from the
/// mesh's own connectivity and the counts of the trace layout.
///
/// Two passes over the patches, each with one writer for every word:
///   1. Edges that appear first in patch p are consecutive in the mesh. Walk them; an edge of
///      section s gets the next number of that section, from section_first[s][p] on.
///   2. Walk the elements of the patch, sides 0, 1, 2 of each. An edge inside the patch is known by
///      its number alone; any other gets the next halo entry, from patch_halo[p] on. Lanes beyond
///      the last element repeat it.
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// The connectivity of a mesh in device memory (mesh/mesh.h, mesh/trace_layout.h).
typedef struct kg_connectivity {
  int32_t *element_vertices;  ///< [element][3]
  uint32_t *side_edge;        ///< [side]: mesh edge << 1 | reversed
  kg_side *edge_sides;        ///< [mesh edge][2]
  uint8_t *edge_section;      ///< [mesh edge]
  int32_t *section_first;     ///< [section][patch + 1]
  int32_t *trace_of_edge;     ///< [mesh edge]: written by the first pass
} kg_connectivity;

typedef struct kg_trace_arrays_args {
  kg_trace_counts count;
  kg_connectivity mesh;
  int32_t *vertex;  ///< and what follows: see kg_trace_arrays
  uint32_t *side_edge;
  kg_side *edge_sides;
  uint32_t *side_codes;       ///< NULL: this and what follows are not wanted
  const int32_t *patch_halo;  ///< [patch + 1]: read
  uint32_t *halo_edge;
} kg_trace_arrays_args;

/// Where the connectivity lies in one piece of device memory; `memory` may be NULL for its size.
kg_connectivity kg_connectivity_at(const kg_trace_counts *count, void *memory, size_t *bytes);
/// Copy it there, all but trace_of_edge.
kedge_status kg_connectivity_put(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kg_trace_layout *layout, const kg_connectivity *to);

KG_DECLARE_OPERATOR(kg_trace_arrays_fill, kg_trace_arrays_args);
kg_cost kg_trace_arrays_cost(const kg_trace_counts *count);

/// What a walk over the edges of a patch begins with.
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

/// An edge gets its number.
KG_INLINE void kg_number_edge(const kg_trace_arrays_args *a, int32_t edge, int32_t trace)
{
  a->mesh.trace_of_edge[edge] = trace;
  a->edge_sides[2 * (int64_t)trace] = a->mesh.edge_sides[2 * (int64_t)edge];
  a->edge_sides[2 * (int64_t)trace + 1] = a->mesh.edge_sides[2 * (int64_t)edge + 1];
}

/// An element as the second pass finds it.
typedef struct kg_patch_element {
  int32_t trace[3];  ///< edges of its sides
  bool reversed[3];  ///< the side runs against its edge
  bool second[3];    ///< the side is the higher one of its edge
  bool in_halo[3];   ///< the edge is not inside the patch
} kg_patch_element;

KG_INLINE kg_patch_element kg_element_of_patch(const kg_trace_arrays_args *a, int32_t e)
{
  kg_patch_element element;
  for (int l = 0; l < 3; ++l) {
    const uint32_t both = a->mesh.side_edge[3 * (int64_t)e + l];
    const int64_t edge = both >> 1;
    element.trace[l] = a->mesh.trace_of_edge[edge];
    element.reversed[l] = (both & 1u) != 0;
    element.second[l] = a->mesh.edge_sides[2 * edge] != kg_side_of(e, l);
    element.in_halo[l] = element.trace[l] >= a->count.n_interior;
  }
  return element;
}

/// Write what is known of an element of patch p; `entry` is the first of its halo entries.
KG_INLINE void kg_put_element(const kg_trace_arrays_args *a, int32_t p, int32_t e,
                              const kg_patch_element *element, int32_t entry)
{
  const int32_t first_edge = a->mesh.section_first[p];
  const int32_t n_inside = a->mesh.section_first[p + 1] - first_edge;
  int32_t code[3];
  for (int l = 0; l < 3; ++l) {
    const int64_t at = kg_lane_side(3, e, l);
    const int32_t trace = element->trace[l];
    a->vertex[at] = a->mesh.element_vertices[3 * (int64_t)e + l];
    a->side_edge[at] = (uint32_t)trace << 1 | (uint32_t)element->reversed[l];
    if (!a->side_codes) continue;
    code[l] = 2 * (trace - first_edge) + element->second[l];
    if (element->in_halo[l]) {
      code[l] = 2 * (n_inside + (entry - a->patch_halo[p]));
      a->halo_edge[entry++] = (uint32_t)trace << 1 | (uint32_t)element->second[l];
    }
  }
  if (a->side_codes) a->side_codes[e] = kg_side_codes_of(code);
}

/// An empty lane repeats the last element.
KG_INLINE void kg_pad_lane(const kg_trace_arrays_args *a, int32_t lane)
{
  const int32_t last = a->count.n_elements - 1;
  for (int l = 0; l < 3; ++l) {
    a->vertex[kg_lane_side(3, lane, l)] = a->vertex[kg_lane_side(3, last, l)];
    a->side_edge[kg_lane_side(3, lane, l)] = a->side_edge[kg_lane_side(3, last, l)];
  }
  if (a->side_codes) a->side_codes[lane] = a->side_codes[last];
}

KEDGE_END_DECLS

/// @file
/// The coarse space of the multigrid preconditioner: continuous functions, linear on every element
/// and zero on Dirichlet edges, on the trace edges that carry unknowns. What is said of edges and
/// their two ends holds in space of facets and their three corners (ops/numbering/facet_corners.h).
///
/// An unknown is the value at a vertex, numbered like it: 0 at vertices of Dirichlet edges, where
/// no edge ends as far as this space is concerned. On an edge from vertex a to vertex b a function
/// has two Legendre modes, because psi_0 = 1 / sqrt 2 and psi_1 = sqrt(3 / 2) s on [-1, 1]:
///
///     mode 0 = (v_a + v_b) / sqrt 2,   mode 1 = (v_b - v_a) / sqrt 6
///
/// These modes are the prolongation P; the restriction P^T (ops/smooth/vertex_transfer.h) gathers,
/// at each vertex, over the ends of edges that meet there. Which vertices an edge has is known from
/// the mesh: of its first side, in the array of that element; or, to who has the coarse matrix, of
/// the ends at the one vertex and the columns there.
#pragma once
#include "core/inline.h"
#include "ops/numbering/facet_corners.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

#define KG_PROLONG_MEAN  0.70710678118654752440  ///< 1 / sqrt 2
#define KG_PROLONG_SLOPE 0.40824829046386301637  ///< 1 / sqrt 6

/// The vertices and the edges that end there, in device memory.
typedef struct kg_vertex_space {
  kg_trace_arrays mesh;  ///< vertices, vertex and edge_sides of it are read; the last may be NULL
                         ///< once the coarse matrix is made (kg_multigrid_reads_edge_sides())
  int32_t n_rows;        ///< unknowns: vertices
  int32_t n_ends;        ///< of free edges at vertices without a Dirichlet edge
  int32_t *begin;        ///< [unknown + 1]: its first end
  int32_t *ends;  ///< [2 free trace edges]: edge << 1 | the vertex is its higher one, ascending; in
                  ///< space [3 free facets]: 3 facet + its corner
  /// [unknown + 1]: where rows of the coarse matrix begin. A row has an entry for each end, then
  /// one for the opposite corner of each quadrilateral at the vertex: `begin` where there are none.
  /// In space it has one for each other vertex of the elements at the vertex
  int32_t *row;
  int32_t n_entries;  ///< of that matrix, beside its diagonal
} kg_vertex_space;

typedef struct kg_vertex_space_args {
  kg_batch batch;
  int32_t n_vertices;
  kg_vertex_space *space;  ///< `begin`, `ends` and, where rows have a length of their own, `row`
                           ///< are given; all else is made
  void *work;              ///< kg_vertex_space_work_bytes() of device memory
  size_t work_bytes;
} kg_vertex_space_args;

/// Ends of an edge, or corners of a facet.
KG_INLINE int kg_facet_ends(const kg_lane_runs *lanes)
{
  return kg_lanes_in_space(lanes) ? KG_CORNERS : 2;
}

/// Whether rows of the coarse matrix are of another length than the list of ends at a vertex.
KG_INLINE bool kg_vertex_rows_differ(const kg_lane_runs *lanes)
{
  return kg_lanes_in_space(lanes) || kg_has_lanes_of(lanes, KG_QUADRILATERALS);
}

/// Most entries of the coarse matrix beside its diagonal. In space the elements around a vertex
/// have triangles opposite to it, t in all with b edges that one of them has alone. In each
/// connected part of these, (t + b) / 2 + 1 vertices at most, and with b = 0, where it is a sphere,
/// one more; where b is not 0 it is 3 at least. Sums over the vertices are 4 an element of t, 3 a
/// boundary facet of b.
KG_INLINE int64_t kg_vertex_entries_max(const kg_trace_counts *count, int32_t n_vertices)
{
  if (kg_lanes_in_space(&count->lanes)) {
    const int64_t boundary = count->n_edges - count->n_interior - count->n_shared;
    return 2 * (int64_t)count->n_elements + 5 * boundary / 2 + 2 * (int64_t)n_vertices;
  }
  return 2 * (int64_t)count->n_free + 4 * (int64_t)kg_lanes_of(&count->lanes, KG_QUADRILATERALS);
}

/// Exact for the context's backend, from counts alone.
kedge_status kg_vertex_space_work_bytes(kedge_context *ctx, const kg_trace_counts *count,
                                        int32_t n_vertices, size_t *bytes);
/// Waits for the device.
KG_DECLARE_OPERATOR(kg_vertex_space_fill, kg_vertex_space_args);
kg_cost kg_vertex_space_cost(const kg_trace_counts *count, int32_t n_vertices);

kedge_status kg_vertex_space_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count,
                                             int32_t n_vertices, size_t *bytes);
kedge_status kg_vertex_space_work_bytes_cuda(kedge_context *ctx, const kg_trace_counts *count,
                                             int32_t n_vertices, size_t *bytes);

/// Modes 0 and 1 of P on an edge, from the values at its lower and at its higher vertex.
KG_INLINE double kg_prolong_mean(double low, double high)
{
  return KG_PROLONG_MEAN * (low + high);
}
KG_INLINE double kg_prolong_slope(double low, double high)
{
  return KG_PROLONG_SLOPE * (high - low);
}

/// The vertices of a trace edge, lower first.
KG_INLINE void kg_edge_vertices(const kg_trace_arrays *arrays, int32_t edge, int32_t vertex[2])
{
  const kg_side side = arrays->edge_sides[2 * (int64_t)edge];
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side), next = kg_next_facet(kg_facets_of_lane(arrays, e), l);
  const int32_t a = arrays->vertex[kg_facet_at(arrays, e, l)];
  const int32_t b = arrays->vertex[kg_facet_at(arrays, e, next)];
  vertex[0] = a < b ? a : b;
  vertex[1] = a < b ? b : a;
}

/// Whether a side begins at the end of its edge.
KG_INLINE bool kg_side_begins_at(const kg_trace_arrays *arrays, kg_side side, int32_t end)
{
  return (int32_t)(arrays->side_edge[kg_side_at(arrays, side)] & 1u) == end;
}

/// Side `of` of the edge of an end, if it is one of a quadrilateral and begins there, else
/// KG_NO_SIDE: so a vertex without Dirichlet edges meets each of its quadrilaterals once.
KG_INLINE kg_side kg_quadrilateral_side(const kg_trace_arrays *arrays, int32_t end, int of)
{
  const kg_side side = arrays->edge_sides[2 * (int64_t)(end >> 1) + of];
  if (side == KG_NO_SIDE) return KG_NO_SIDE;
  if (kg_run_of_lane(&arrays->lanes, kg_side_element(side)).cell != KG_QUADRILATERALS)
    return KG_NO_SIDE;
  return kg_side_begins_at(arrays, side, end & 1) ? side : KG_NO_SIDE;
}

/// Elements at a vertex of tetrahedra are found by the facets there: side i & 1 of the facet of end
/// i / 2, if the vertex's element is met there, else KG_NO_SIDE. Each element at a vertex without
/// Dirichlet facets is met once, from its first facet there.
/// @param[out] j  which vertex of the element it is
KG_INLINE kg_side kg_met_side(const kg_vertex_space *space, int64_t i, int *j)
{
  const int32_t end = space->ends[i / 2];
  const kg_side side = space->mesh.edge_sides[2 * (int64_t)(end / KG_CORNERS) + i % 2];
  if (side == KG_NO_SIDE) return KG_NO_SIDE;
  *j = kg_facet_corner(kg_side_facet(side), end % KG_CORNERS);
  return kg_side_facet(side) == (*j == 0) ? side : KG_NO_SIDE;
}

/// The place of a column in a row of n; where it has none, it is put behind them.
KG_INLINE int32_t kg_corner_place(int32_t *column, int32_t n, int32_t wanted)
{
  int32_t at = 0;
  while (at < n && column[at] != wanted) ++at;
  column[at] = wanted;
  return at;
}

/// The columns in the row of an unknown of tetrahedra: other vertices of the elements there. They
/// are no more than the ends at a vertex, as each is on two facets there or more, which have two.
/// @return how many
KG_INLINE int32_t kg_corner_columns(const kg_vertex_space *space, int32_t vertex, int32_t *column)
{
  const int64_t end = 2 * (int64_t)space->begin[vertex + 1];
  int32_t n = 0;
  int j;
  for (int64_t i = 2 * (int64_t)space->begin[vertex]; i < end; ++i) {
    const kg_side side = kg_met_side(space, i, &j);
    for (int k = 0; side != KG_NO_SIDE && k < 4; ++k) {
      if (k == j) continue;
      const int64_t corner = kg_facet_at(&space->mesh, kg_side_element(side), k);
      n += kg_corner_place(column, n, space->mesh.vertex[corner]) == n;
    }
  }
  return n;
}

/// Entries of the row of an unknown in the plane, beside its diagonal.
KG_INLINE int32_t kg_vertex_row_length(const kg_vertex_space *space, int32_t vertex)
{
  int32_t n = space->begin[vertex + 1] - space->begin[vertex];
  for (int32_t k = space->begin[vertex]; k < space->begin[vertex + 1]; ++k)
    for (int of = 0; of < 2; ++of)
      n += kg_quadrilateral_side(&space->mesh, space->ends[k], of) != KG_NO_SIDE;
  return n;
}

/// Whether a vertex has a Dirichlet edge.
KG_INLINE bool kg_vertex_is_fixed(const kg_vertex_space *space, int32_t vertex)
{
  return space->begin[vertex] == space->begin[vertex + 1];
}

KEDGE_END_DECLS

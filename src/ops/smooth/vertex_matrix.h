/// @file
/// The trace operator on the coarse space (ops/numbering/vertex_space.h): the matrix P^T A P. For
/// pure diffusion it is diffusion times the stiffness matrix of linear finite elements; reaction
/// adds its mass.
///
/// Two passes, one writer for every word: the matrices P_e^T K^e P_e of the elements, 3 x 3 or
/// 4 x 4, then the rows. A row has its diagonal apart, an entry for each end of an edge at its
/// vertex, in their order, and one for the opposite corner of each quadrilateral there. The
/// diagonal adds the elements at the vertex, each
/// of them met once, from the side that begins there; and what rounding takes from the entries
/// (precondition/amg/csr.h). Vertices of Dirichlet edges have a diagonal alone, and entries of
/// other rows for them are zero: what is zero there in a right-hand side stays so in multigrid's
/// answer.
#pragma once
#include "ops/local/entry.h"
#include "ops/numbering/trace_arrays.h"
#include "ops/numbering/vertex_space.h"
KEDGE_BEGIN_DECLS

/// The diagonal of vertices with a Dirichlet edge. Whatever the numbers in K^e, such rows have no
/// part in norms that it weighs.
#define KG_VERTEX_FIXED 0x1p-1000

typedef struct kg_vertex_matrix_args {
  kg_batch batch;
  kg_locals locals;
  kg_vertex_space space;
  double *element;   ///< work: [group][6 or 10][lane], packed: kg_vertex_element_numbers()
  double *wide;      ///< work, of tetrahedra alone: [entry]
  int32_t *column;   ///< [entry]
  float *value;      ///< [entry]
  double *diagonal;  ///< [unknown]
} kg_vertex_matrix_args;

KG_DECLARE_OPERATOR(kg_vertex_matrix_fill, kg_vertex_matrix_args);
/// @param[in] local  of K^e, its layout and number
kg_cost kg_vertex_matrix_cost(const kg_trace_counts *count, int32_t n_vertices,
                              const kg_local *local);

/// Entries of the packed matrix of the corners of an element.
KG_INLINE int kg_vertex_packed(int n_facets)
{
  return n_facets * (n_facets + 1) / 2;
}

KG_INLINE size_t kg_vertex_element_numbers(const kg_trace_counts *count)
{
  size_t n = 0;
  for (int i = 0; i < 2; ++i)
    n += (size_t)count->lanes.run[i].n_lanes *
         (size_t)kg_vertex_packed(count->lanes.run[i].n_facets);
  return n;
}

/// Entry (i, j) of the packed matrix of an element.
KG_INLINE int64_t kg_vertex_element_at(const kg_trace_arrays *arrays, int32_t e, int i, int j)
{
  const kg_lane_run run = kg_run_of_lane(&arrays->lanes, e);
  const int64_t before = (int64_t)run.first_lane * kg_vertex_packed(arrays->lanes.run[0].n_facets);
  const int32_t lane = e - run.first_lane;
  const int64_t group = (int64_t)(lane / KG_LANES) * kg_vertex_packed(run.n_facets);
  return before + (group + kg_packed_entry(i, j)) * KG_LANES + lane % KG_LANES;
}

/// Entry (i, j) of the matrix of an element. At vertex i side i begins, and the one before it ends.
/// @param[in] slope  mode 1 of a side where it begins; where it ends it has the other sign
KG_INLINE double kg_vertex_entry(const kg_local_element *e, int n_facets, const double *slope,
                                 int i, int j)
{
  double sum = 0.0;
  for (int at_i = 0; at_i < 2; ++at_i)
    for (int at_j = 0; at_j < 2; ++at_j) {
      const int s = at_i ? kg_facet_before(n_facets, i) : i;
      const int t = at_j ? kg_facet_before(n_facets, j) : j;
      const double p[2] = {KG_PROLONG_MEAN, at_i ? -slope[s] : slope[s]};
      const double q[2] = {KG_PROLONG_MEAN, at_j ? -slope[t] : slope[t]};
      for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) sum += p[u] * q[v] * kg_local_entry(e, s, u, t, v);
    }
  return sum;
}

/// Entry (i, j) of the matrix of an element, from reduced K^e: w = 0 for a linear function, which
/// leaves the fluxes of its means, those between the sides opposite to the vertices.
KG_INLINE double kg_vertex_entry_reduced(const kg_local_element *e, int i, int j)
{
  return 0.5 * kg_local_flux(e, (i + 1) % 3, (j + 1) % 3);
}

/// The matrix of the element of a lane, if it has one.
KG_INLINE void kg_vertex_element(const kg_vertex_matrix_args *a, int32_t e)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  const kg_local *local = kg_local_of_lane(&a->locals, e);
  if (e - local->first_lane >= local->n_elements) return;
  const kg_local_element element = kg_local_element_of(&a->locals, a->batch.m, e);
  const bool reduced = local->layout == KG_LAYOUT_REDUCED;
  const int n_facets = kg_facets_of_lane(arrays, e);
  double slope[4];
  for (int l = 0; l < n_facets; ++l) {
    const bool reversed = arrays->side_edge[kg_facet_at(arrays, e, l)] & 1u;
    slope[l] = reversed ? KG_PROLONG_SLOPE : -KG_PROLONG_SLOPE;
  }
  for (int i = 0; i < n_facets; ++i)
    for (int j = 0; j <= i; ++j)
      a->element[kg_vertex_element_at(arrays, e, i, j)] =
          reduced ? kg_vertex_entry_reduced(&element, i, j)
                  : kg_vertex_entry(&element, n_facets, slope, i, j);
}

/// The part of an edge in the entry of its vertices, and of the elements that begin with it at
/// `end` in the diagonal there.
KG_INLINE double kg_vertex_coupling(const kg_vertex_matrix_args *a, int32_t edge, int end,
                                    double *diagonal)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  double coupling = 0.0;
  for (int k = 0; k < 2; ++k) {
    const kg_side side = arrays->edge_sides[2 * (int64_t)edge + k];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int l = kg_side_facet(side), next = kg_next_facet(kg_facets_of_lane(arrays, e), l);
    coupling += a->element[kg_vertex_element_at(arrays, e, l, next)];
    if (kg_side_begins_at(arrays, side, end))
      *diagonal += a->element[kg_vertex_element_at(arrays, e, l, l)];
  }
  return coupling;
}

/// An entry; returns what rounding takes from it.
KG_INLINE double kg_vertex_put(const kg_vertex_matrix_args *a, int32_t at, int32_t column,
                               double coupling)
{
  const bool is_fixed = kg_vertex_is_fixed(&a->space, column);
  a->column[at] = column;
  a->value[at] = is_fixed ? 0.0f : (float)coupling;
  return is_fixed ? 0.0 : coupling - (double)a->value[at];
}

/// The entries of a row for opposite corners, from `at` on; returns what rounding takes from them.
KG_INLINE double kg_vertex_corners(const kg_vertex_matrix_args *a, int32_t row, int32_t at)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  double rest = 0.0;
  for (int32_t i = a->space.begin[row]; i < a->space.begin[row + 1]; ++i)
    for (int of = 0; of < 2; ++of) {
      const kg_side side = kg_quadrilateral_side(arrays, a->space.ends[i], of);
      if (side == KG_NO_SIDE) continue;
      const int32_t e = kg_side_element(side);
      const int l = kg_side_facet(side), opposite = (l + 2) % 4;
      rest += kg_vertex_put(a, at++, arrays->vertex[kg_facet_at(arrays, e, opposite)],
                            a->element[kg_vertex_element_at(arrays, e, l, opposite)]);
    }
  return rest;
}

/// Make a row of the matrix.
KG_INLINE void kg_vertex_row(const kg_vertex_matrix_args *a, int32_t row)
{
  const kg_vertex_space *space = &a->space;
  double diagonal = kg_vertex_is_fixed(space, row) ? KG_VERTEX_FIXED : 0.0;
  int32_t at = space->row[row];
  for (int32_t i = space->begin[row]; i < space->begin[row + 1]; ++i, ++at) {
    const int32_t edge = space->ends[i] >> 1, end = space->ends[i] & 1;
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    const double coupling = kg_vertex_coupling(a, edge, end, &diagonal);
    diagonal += kg_vertex_put(a, at, vertex[1 - end], coupling);
  }
  if (at < space->row[row + 1]) diagonal += kg_vertex_corners(a, row, at);
  a->diagonal[row] = diagonal;
}

KEDGE_END_DECLS

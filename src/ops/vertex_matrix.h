/// @file
/// The trace operator on the coarse space (ops/vertex_space.h): the matrix P^T A P. For pure
/// diffusion it is diffusion times the stiffness matrix of linear finite elements; reaction adds
/// its mass.
///
/// Two passes, one writer for every word: the 3 x 3 matrices P_e^T K^e P_e of the elements,
/// then the rows. A row has its diagonal apart, and an entry for each end of an edge at its vertex,
/// in their order: it begins where those begin. The diagonal adds the elements at the vertex, each
/// of them met once, from the side that begins there; and what rounding takes from the entries
/// (multigrid/csr.h). Vertices of Dirichlet edges have a diagonal alone, and entries of other rows
/// for them are zero: what is zero there in a right-hand side stays so in multigrid's answer.
#pragma once
#include "ops/local/entry.h"
#include "ops/trace_arrays.h"
#include "ops/vertex_space.h"
KEDGE_BEGIN_DECLS

/// The diagonal of vertices with a Dirichlet edge. Whatever the numbers in K^e, such rows have no
/// part in norms that it weighs.
#define KG_VERTEX_FIXED 0x1p-1000

typedef struct kg_vertex_matrix_args {
  kg_batch batch;
  kg_locals locals;
  kg_vertex_space space;
  double *element;   ///< work: [group][6][lane], packed
  int32_t *column;   ///< [end]
  float *value;      ///< [end]
  double *diagonal;  ///< [unknown]
} kg_vertex_matrix_args;

KG_DECLARE_OPERATOR(kg_vertex_matrix_fill, kg_vertex_matrix_args);
/// @param[in] local  of K^e, its layout and number
kg_cost kg_vertex_matrix_cost(const kg_trace_counts *count, int32_t n_vertices,
                              const kg_local *local);

/// Entry (i, j) of the packed matrix of an element.
KG_INLINE int64_t kg_vertex_element_at(int32_t e, int i, int j)
{
  return ((int64_t)(e / KG_LANES) * 6 + kg_packed_entry(i, j)) * KG_LANES + e % KG_LANES;
}

/// Entry (i, j) of the matrix of an element. Vertex i: side i begins, side i + 2 (mod 3) ends.
/// @param[in] slope  mode 1 of a side where it begins; where it ends it has the other sign
KG_INLINE double kg_vertex_entry(const kg_local_element *e, const double slope[3], int i, int j)
{
  double sum = 0.0;
  for (int at_i = 0; at_i < 2; ++at_i)
    for (int at_j = 0; at_j < 2; ++at_j) {
      const int s = (i + 2 * at_i) % 3, t = (j + 2 * at_j) % 3;
      const double p[2] = {KG_PROLONG_MEAN, at_i ? -slope[s] : slope[s]};
      const double q[2] = {KG_PROLONG_MEAN, at_j ? -slope[t] : slope[t]};
      for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) sum += p[u] * q[v] * kg_local_entry(e, s, u, t, v);
    }
  return sum;
}

/// The same of reduced K^e: w = 0 for a linear function, and the fluxes of its means are left,
/// those between the sides opposite to the vertices.
KG_INLINE double kg_vertex_entry_reduced(const kg_local_element *e, int i, int j)
{
  return 0.5 * kg_local_flux(e, (i + 1) % 3, (j + 1) % 3);
}

/// The matrix of an element.
KG_INLINE void kg_vertex_element(const kg_vertex_matrix_args *a, int32_t e)
{
  const kg_local_element element =
      kg_local_element_of(&a->locals, a->batch.reference.size.n_edge, e);
  const bool reduced = kg_local_of_lane(&a->locals, e)->layout == KG_LAYOUT_REDUCED;
  double slope[3];
  for (int l = 0; l < 3; ++l) {
    const bool reversed = a->batch.arrays.side_edge[kg_lane_side(3, e, l)] & 1u;
    slope[l] = reversed ? KG_PROLONG_SLOPE : -KG_PROLONG_SLOPE;
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j)
      a->element[kg_vertex_element_at(e, i, j)] = reduced ? kg_vertex_entry_reduced(&element, i, j)
                                                          : kg_vertex_entry(&element, slope, i, j);
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
    const int l = kg_side_facet(side);
    const int begins_at = (int)(arrays->side_edge[kg_lane_side(3, e, l)] & 1u);
    coupling += a->element[kg_vertex_element_at(e, l, (l + 1) % 3)];
    if (begins_at == end) *diagonal += a->element[kg_vertex_element_at(e, l, l)];
  }
  return coupling;
}

/// A row.
KG_INLINE void kg_vertex_row(const kg_vertex_matrix_args *a, int32_t row)
{
  const kg_vertex_space *space = &a->space;
  double diagonal = kg_vertex_is_fixed(space, row) ? KG_VERTEX_FIXED : 0.0;
  for (int32_t i = space->begin[row]; i < space->begin[row + 1]; ++i) {
    const int32_t edge = space->ends[i] >> 1, end = space->ends[i] & 1;
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    const double coupling = kg_vertex_coupling(a, edge, end, &diagonal);
    const bool is_fixed = kg_vertex_is_fixed(space, vertex[1 - end]);
    a->column[i] = vertex[1 - end];
    a->value[i] = is_fixed ? 0.0f : (float)coupling;
    if (!is_fixed) diagonal += coupling - (double)a->value[i];
  }
  a->diagonal[row] = diagonal;
}

KEDGE_END_DECLS

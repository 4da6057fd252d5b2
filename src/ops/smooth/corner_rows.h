/// @file
/// Rows of A P of tetrahedra, for A P c of the coarse space: what ops/smooth/vertex_rows.h says of
/// edges. A facet sees its three corners and the vertex opposite to it in each of its elements: a
/// row has the sum, then the entries of corners 1 and 2 and of these two vertices,
///
///     (A P c)_k = sum_k c_0 + entry_k1 (c_1 - c_0) + entry_k2 (c_2 - c_0) + entry_k3 (c_3 - c_0) +
///     ...
#pragma once
#include "ops/smooth/vertex_rows.h"
KEDGE_BEGIN_DECLS

/// Entries of (K^e P_e) of mode k of facet l for the vertices of a tetrahedron.
KG_INLINE void kg_corner_row_entries(const kg_local_element *element, int l, int k, double entry[4])
{
  for (int j = 0; j < 4; ++j) entry[j] = 0.0;
  for (int t = 0; t < 4; ++t) {
    double mode[KG_CORNERS], value[KG_CORNERS];
    for (int i = 0; i < KG_CORNERS; ++i) mode[i] = kg_local_entry(element, l, k, t, i);
    kg_corner_values(mode, value);
    for (int c = 0; c < KG_CORNERS; ++c) entry[kg_facet_corner(t, c)] += value[c];
  }
}

/// The rows of a facet.
KG_INLINE void kg_corner_rows_of(const kg_vertex_rows_args *a, int32_t facet)
{
  const kg_side *side = a->batch.arrays.edge_sides + 2 * (int64_t)facet;
  const int m = a->batch.m;
  for (int k = 0; k < m; ++k) {
    double row[KG_CORNER_ROW] = {0.0};
    for (int of = 0; of < 2; ++of) {
      if (side[of] == KG_NO_SIDE) continue;
      const int l = kg_side_facet(side[of]);
      const kg_local_element element =
          kg_local_element_of(&a->locals, m, kg_side_element(side[of]));
      double entry[4];
      kg_corner_row_entries(&element, l, k, entry);
      for (int j = 0; j < 4; ++j) row[0] += entry[j];
      for (int c = 1; c < KG_CORNERS; ++c) row[c] += entry[kg_facet_corner(l, c)];
      row[KG_CORNERS + of] += entry[l];
    }
    float *to = a->rows.value + kg_vertex_row_at(&a->rows, m, facet, k);
    for (int i = 0; i < KG_CORNER_ROW; ++i) to[i * KG_LANES] = (float)row[i];
  }
}

/// What rows are multiplied with, and the modes of P c on the facet.
KG_INLINE void kg_corner_row_factors(const kg_trace_arrays *arrays, const double *coarse,
                                     int32_t facet, double factor[KG_CORNER_ROW],
                                     double mode[KG_CORNERS])
{
  const kg_side *side = arrays->edge_sides + 2 * (int64_t)facet;
  int32_t vertex[KG_CORNERS];
  double value[KG_CORNERS];
  kg_facet_vertices(arrays, facet, vertex);
  for (int c = 0; c < KG_CORNERS; ++c) value[c] = coarse[vertex[c]];
  kg_corner_modes(value, mode);
  factor[0] = value[0];
  for (int c = 1; c < KG_CORNERS; ++c) factor[c] = value[c] - value[0];
  for (int of = 0; of < 2; ++of)
    factor[KG_CORNERS + of] = side[of] == KG_NO_SIDE
                                  ? 0.0
                                  : coarse[arrays->vertex[kg_side_at(arrays, side[of])]] - value[0];
}

KEDGE_END_DECLS

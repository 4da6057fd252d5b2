/// @file
/// The trace operator on the coarse space of tetrahedra: P^T A P as ops/smooth/vertex_matrix.h has
/// it, by way of the matrices P_e^T K^e P_e of the elements, 4 x 4. A row has an entry for each
/// other vertex of the elements at its vertex, in the order in which these are met there.
#pragma once
#include "ops/smooth/vertex_matrix.h"
KEDGE_BEGIN_DECLS

/// The part of facets s and t of an element in entries of its corners: P_s^T K_st P_t.
KG_INLINE void kg_corner_block(const kg_local_element *e, int s, int t,
                               double block[KG_CORNERS][KG_CORNERS])
{
  double half[KG_CORNERS][KG_CORNERS];
  for (int i = 0; i < KG_CORNERS; ++i) {
    double row[KG_CORNERS];
    for (int j = 0; j < KG_CORNERS; ++j) row[j] = kg_local_entry(e, s, i, t, j);
    kg_corner_values(row, half[i]);
  }
  for (int d = 0; d < KG_CORNERS; ++d) {
    const double column[KG_CORNERS] = {half[0][d], half[1][d], half[2][d]};
    double value[KG_CORNERS];
    kg_corner_values(column, value);
    for (int c = 0; c < KG_CORNERS; ++c) block[c][d] = value[c];
  }
}

/// The matrix of the element of a lane, if it has one.
KG_INLINE void kg_corner_element(const kg_vertex_matrix_args *a, int32_t e)
{
  const kg_local *local = kg_local_of_lane(&a->locals, e);
  if (e - local->first_lane >= local->n_elements) return;
  const kg_local_element element = kg_local_element_of(&a->locals, a->batch.m, e);
  double sum[10] = {0.0};
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t <= s; ++t) {
      double block[KG_CORNERS][KG_CORNERS];
      kg_corner_block(&element, s, t, block);
      for (int c = 0; c < KG_CORNERS; ++c)
        for (int d = 0; d < KG_CORNERS; ++d) {
          const int i = kg_facet_corner(s, c), j = kg_facet_corner(t, d);
          // Facets t and s add the transpose: on the diagonal as much, beside it one entry a pair.
          if (s != t)
            sum[kg_packed_entry(i, j)] += i == j ? 2.0 * block[c][d] : block[c][d];
          else if (j <= i)
            sum[kg_packed_entry(i, j)] += block[c][d];
        }
    }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j)
      a->element[kg_vertex_element_at(&a->batch.arrays, e, i, j)] = sum[kg_packed_entry(i, j)];
}

/// Make a row of the matrix.
KG_INLINE void kg_corner_row(const kg_vertex_matrix_args *a, int32_t row)
{
  const kg_vertex_space *space = &a->space;
  const kg_trace_arrays *arrays = &space->mesh;
  const int64_t end = 2 * (int64_t)space->begin[row + 1];
  int32_t *const column = a->column + space->row[row];
  double *const wide = a->wide + space->row[row];
  double diagonal = kg_vertex_is_fixed(space, row) ? KG_VERTEX_FIXED : 0.0;
  int32_t n = 0;
  int j;
  for (int64_t i = 2 * (int64_t)space->begin[row]; i < end; ++i) {
    const kg_side side = kg_met_side(space, i, &j);
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    diagonal += a->element[kg_vertex_element_at(arrays, e, j, j)];
    for (int k = 0; k < 4; ++k) {
      if (k == j) continue;
      const int32_t at = kg_corner_place(column, n, arrays->vertex[kg_facet_at(arrays, e, k)]);
      if (at == n) wide[n++] = 0.0;
      wide[at] += a->element[kg_vertex_element_at(arrays, e, j, k)];
    }
  }
  for (int32_t k = 0; k < n; ++k)
    diagonal += kg_vertex_put(a, space->row[row] + k, column[k], wide[k]);
  a->diagonal[row] = diagonal;
}

KEDGE_END_DECLS

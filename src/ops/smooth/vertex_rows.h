/// @file
/// Rows of A P, for A P c of the coarse space (ops/numbering/vertex_space.h) where no flux tells it
/// (ops/smooth/vertex_flux.h): quadrilaterals, curves, a reaction, coefficients that vary. An edge
/// sees the vertices of its elements alone, six of two quadrilaterals. Its m rows are read where a
/// correction is added, in place of K^e: a ninth of the bytes at order 3.
///
/// What is kept are the sum of a row, and its entries but the one of the lower vertex of the edge:
///
///     (A P c)_k = sum_k c_low + entry_k1 (c_high - c_low) + entry_k2 (c_2 - c_low) + ...
///
/// Without a reaction the sum is zero, so that numbers in single precision do not spoil what A P c
/// is of a smooth c: second differences.
#pragma once
#include "ops/local/entry.h"
#include "ops/numbering/trace_arrays.h"
#include "ops/numbering/vertex_space.h"
KEDGE_BEGIN_DECLS

enum {
  KG_VERTEX_ROW_MAX = 6,
  KG_CORNER_ROW = 5,  ///< numbers of a row in space (ops/smooth/corner_rows.h)
};

/// One of K vectors whose numbers lie side by side.
typedef struct kg_coarse_vector {
  const double *value;  ///< [unknown][K]
  int K, vector;
} kg_coarse_vector;

KG_INLINE double kg_coarse_at(kg_coarse_vector c, int32_t i)
{
  return c.value[(int64_t)i * c.K + c.vector];
}

typedef struct kg_vertex_rows {
  float *value;  ///< [edge group][mode][width][lane] of free edges; NULL: there are none
  int width;     ///< kg_vertex_row_width()
} kg_vertex_rows;

typedef struct kg_vertex_rows_args {
  kg_batch batch;
  kg_locals locals;
  kg_vertex_rows rows;  ///< value is filled
} kg_vertex_rows_args;

/// Thread or loop = free edge.
KG_DECLARE_OPERATOR(kg_vertex_rows_fill, kg_vertex_rows_args);
/// @param[in] local  of K^e, its number
kg_cost kg_vertex_rows_cost(int m, const kg_trace_counts *count, kg_number local);
/// The cost of A P c in the pass that corrects the product.
kg_cost kg_vertex_rows_product_cost(int m, const kg_trace_counts *count);

/// Numbers of a row: the sum, the higher vertex of the edge, one or two more vertices a side.
KG_INLINE int kg_vertex_row_width(const kg_trace_counts *count)
{
  if (kg_lanes_in_space(&count->lanes)) return KG_CORNER_ROW;
  return kg_has_lanes_of(&count->lanes, KG_QUADRILATERALS) ? 6 : 4;
}

KG_INLINE size_t kg_vertex_rows_count(int m, const kg_trace_counts *count)
{
  const size_t groups = ((size_t)count->n_free + KG_LANES - 1) / KG_LANES;
  return groups * KG_LANES * (size_t)m * (size_t)kg_vertex_row_width(count);
}

/// The place of the first number of a mode of an edge; the next ones follow KG_LANES apart.
KG_INLINE int64_t kg_vertex_row_at(const kg_vertex_rows *rows, int m, int32_t edge, int mode)
{
  return ((int64_t)(edge / KG_LANES) * m + mode) * rows->width * KG_LANES + edge % KG_LANES;
}

/// The place in a row of six of vertex j of an element that has the edge as its facet l; 0: its
/// lower one.
/// @param[in] of    which side of the edge
/// @param[in] high  the vertex of the element that is the higher one of the edge
KG_INLINE int kg_vertex_row_place(int n_facets, int l, int of, int j, int high)
{
  const int behind = (j - l + n_facets) % n_facets;
  return behind < 2 ? j == high : 2 * of + behind;
}

/// Where a place of a row of six is kept, in numbers; -1: nowhere, as triangles do not have it.
KG_INLINE int kg_vertex_row_kept(int width, int place)
{
  if (width == 6 || place < 3) return place;
  return place == 4 ? 3 : -1;
}

/// The vertex of an element that is the higher one of its facet l.
KG_INLINE int kg_facet_high(const kg_trace_arrays *arrays, int32_t e, int l)
{
  const int next = kg_next_facet(kg_facets_of_lane(arrays, e), l);
  const int32_t a = arrays->vertex[kg_facet_at(arrays, e, l)];
  return arrays->vertex[kg_facet_at(arrays, e, next)] > a ? next : l;
}

/// Entries of (K^e P_e) of mode k of facet l for the vertices of an element.
KG_INLINE void kg_vertex_row_entries(const kg_vertex_rows_args *a, const kg_local_element *element,
                                     int32_t e, int l, int k, double *entry)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  const int n = kg_facets_of_lane(arrays, e);
  for (int j = 0; j < n; ++j) entry[j] = 0.0;
  for (int t = 0; t < n; ++t) {
    const bool reversed = arrays->side_edge[kg_facet_at(arrays, e, t)] & 1u;
    const double mean = KG_PROLONG_MEAN * kg_local_entry(element, l, k, t, 0);
    const double rise = KG_PROLONG_SLOPE * kg_local_entry(element, l, k, t, 1);
    entry[t] += reversed ? mean + rise : mean - rise;
    entry[kg_next_facet(n, t)] += reversed ? mean - rise : mean + rise;
  }
}

/// The row of a mode of an edge.
KG_INLINE void kg_vertex_row_make(const kg_vertex_rows_args *a, int32_t edge, int k, double *row)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  for (int i = 0; i < KG_VERTEX_ROW_MAX; ++i) row[i] = 0.0;
  for (int of = 0; of < 2; ++of) {
    const kg_side side = arrays->edge_sides[2 * (int64_t)edge + of];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int l = kg_side_facet(side), n = kg_facets_of_lane(arrays, e);
    const int high = kg_facet_high(arrays, e, l);
    const kg_local_element element = kg_local_element_of(&a->locals, a->batch.m, e);
    double entry[KG_FACETS_MAX];
    kg_vertex_row_entries(a, &element, e, l, k, entry);
    for (int j = 0; j < n; ++j) {
      const int place = kg_vertex_row_place(n, l, of, j, high);
      row[0] += entry[j];
      if (place > 0) row[place] += entry[j];
    }
  }
}

KG_INLINE void kg_vertex_rows_of(const kg_vertex_rows_args *a, int32_t edge)
{
  const int m = a->batch.m;
  for (int k = 0; k < m; ++k) {
    double row[KG_VERTEX_ROW_MAX];
    kg_vertex_row_make(a, edge, k, row);
    float *to = a->rows.value + kg_vertex_row_at(&a->rows, m, edge, k);
    for (int i = 0; i < KG_VERTEX_ROW_MAX; ++i) {
      const int kept = kg_vertex_row_kept(a->rows.width, i);
      if (kept >= 0) to[kept * KG_LANES] = (float)row[i];
    }
  }
}

/// What a row of six is multiplied with: c at the lower vertex of the edge, then what others have
/// more. Places are constants in unrolled loops, so that a GPU keeps them in registers.
KG_INLINE void kg_vertex_row_factors(const kg_trace_arrays *arrays, kg_coarse_vector coarse,
                                     int32_t edge, double *factor)
{
  for (int i = 1; i < KG_VERTEX_ROW_MAX; ++i) factor[i] = 0.0;
  int32_t end[2];
  kg_edge_vertices(arrays, edge, end);
  factor[0] = kg_coarse_at(coarse, end[0]);
  for (int of = 0; of < 2; ++of) {
    const kg_side side = arrays->edge_sides[2 * (int64_t)edge + of];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int l = kg_side_facet(side), n = kg_facets_of_lane(arrays, e);
    for (int behind = 2; behind < 4; ++behind)
      if (behind < n)
        factor[2 * of + behind] =
            kg_coarse_at(coarse, arrays->vertex[kg_facet_at(arrays, e, (l + behind) % n)]) -
            factor[0];
  }
  factor[1] = kg_coarse_at(coarse, end[1]) - factor[0];
}

/// Modes 0 and 1 of P c on an edge.
KG_INLINE double kg_vertex_row_mean(const double *factor)
{
  return kg_prolong_mean(factor[0], factor[0] + factor[1]);
}
KG_INLINE double kg_vertex_row_slope(const double *factor)
{
  return KG_PROLONG_SLOPE * factor[1];
}

/// (A P c)_k of an edge.
KG_INLINE double kg_vertex_row_product(const kg_vertex_rows *rows, int m, int32_t edge, int k,
                                       const double *factor)
{
  const float *row = rows->value + kg_vertex_row_at(rows, m, edge, k);
  double sum = (double)row[0] * factor[0];
  for (int i = 1; i < KG_VERTEX_ROW_MAX; ++i) {
    const int kept = kg_vertex_row_kept(rows->width, i);
    if (kept >= 0) sum += (double)row[kept * KG_LANES] * factor[i];
  }
  return sum;
}

KEDGE_END_DECLS

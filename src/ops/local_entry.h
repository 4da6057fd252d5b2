/// @file
/// Local matrices as an operator gets them that reads single entries: packed K^e in double, K' in
/// single precision (ops/local_differences.h), or reduced K^e in either (ops/local_reduced.h).
///
/// Reduced K^e have every entry of K^e. With K_w, the matrix of modes 1 to P that they hold, E:
/// x -> w and the fluxes g of mode 0,
///
///     K^e = E^T K_w E + G,   G_lk = g_lk,  G_ll = -g_l,l+1 - g_l,l-1
///
/// so an entry of one mode 0 is a sum of two numbers, mode 1 of the other two edges, and an entry
/// of two is one of four and a flux.
#pragma once
#include "ops/local_differences.h"
#include "ops/local_reduced.h"
#include "ops/trace_arrays.h"
KEDGE_BEGIN_DECLS

typedef enum kg_local_form {
  KG_LOCAL_PACKED,
  KG_LOCAL_DIFFERENCES,
  KG_LOCAL_REDUCED
} kg_local_form;

typedef struct kg_local {
  const void *data;  ///< [group][row][lane]
  kg_number number;
  kg_local_form form;
  const uint32_t *side_edge;  ///< of the trace arrays; reduced ones alone need it
} kg_local;

/// An element of them.
typedef struct kg_local_element {
  kg_local local;
  int m;         ///< modes of an edge
  int64_t at;    ///< of its row 0; the next row is KG_LANES numbers on
  int64_t side;  ///< of its side 0 in side_edge; the next side is KG_LANES on
} kg_local_element;

KG_INLINE kg_local_element kg_local_element_of(const kg_local *local, int m, int32_t e)
{
  const int skipped = local->form == KG_LOCAL_REDUCED ? 3 : 0, n = 3 * m - skipped;
  const int64_t rows = n * (n + 1) / 2 + (skipped ? KG_REDUCED_FLUX : 0);
  const kg_local_element element = {*local, m, e / KG_LANES * rows * KG_LANES + e % KG_LANES,
                                    kg_lane_side(3, e, 0)};
  return element;
}

KG_INLINE double kg_local_row(const kg_local_element *e, int row)
{
  const int64_t at = e->at + (int64_t)row * KG_LANES;
  return e->local.number == KG_DOUBLE ? ((const double *)e->local.data)[at]
                                      : (double)((const float *)e->local.data)[at];
}

/// Entry (i, j) of K^e, from K'.
KG_INLINE double kg_local_from_differences(const kg_local_element *e, int i, int j)
{
  const int m = e->m, last = 2 * m;
  double sum = kg_local_row(e, kg_packed_entry(i, j));
  if (i == last)
    sum -= kg_local_row(e, kg_packed_entry(0, j)) + kg_local_row(e, kg_packed_entry(m, j));
  if (j == last)
    sum -= kg_local_row(e, kg_packed_entry(i, 0)) + kg_local_row(e, kg_packed_entry(i, m));
  if (i == last && j == last)
    sum += kg_local_row(e, kg_packed_entry(0, 0)) + kg_local_row(e, kg_packed_entry(m, m)) +
           2.0 * kg_local_row(e, kg_packed_entry(m, 0));
  return sum;
}

/// s_l. Not from the diagonal entry of mode 1 that has its sign: one that rounding made negative
/// has the other, and must not pass for a positive one.
KG_INLINE double kg_local_sign(const kg_local_element *e, int l)
{
  return e->local.side_edge[e->side + (int64_t)l * KG_LANES] & 1u ? -1.0 : 1.0;
}

/// Entry of K_w: mode i of side l, mode j of side k; neither is 0.
KG_INLINE double kg_local_inner(const kg_local_element *e, int l, int i, int k, int j)
{
  const int entry = kg_packed_entry(kg_reduced_number(e->m, l, i), kg_reduced_number(e->m, k, j));
  const double value = kg_local_row(e, KG_REDUCED_FLUX + entry);
  return l == k && i == 1 && j == 1 ? kg_local_sign(e, l) * value : value;
}

/// What mode 0 of side l adds to mode 1 of side k.
KG_INLINE double kg_local_slope(const kg_local_element *e, int l, int k)
{
  const double slope = kg_local_sign(e, k) * KG_REDUCED_SLOPE;
  return k == (l + 1) % 3 ? slope : -slope;
}

/// Entry of E^T K_w: mode i of side l, mode j of side k; j is not 0.
KG_INLINE double kg_local_outer(const kg_local_element *e, int l, int i, int k, int j)
{
  if (i > 0) return kg_local_inner(e, l, i, k, j);
  const int next = (l + 1) % 3, before = (l + 2) % 3;
  return kg_local_slope(e, l, next) * kg_local_inner(e, next, 1, k, j) +
         kg_local_slope(e, l, before) * kg_local_inner(e, before, 1, k, j);
}

/// G_lk.
KG_INLINE double kg_local_flux(const kg_local_element *e, int l, int k)
{
  const int next = (l + 1) % 3, before = (l + 2) % 3;  // row of g_lk: l + k - 1
  if (l != k) return kg_local_row(e, l + k - 1);
  return -kg_local_row(e, l + next - 1) - kg_local_row(e, l + before - 1);
}

KG_INLINE double kg_local_from_reduced(const kg_local_element *e, int l, int i, int k, int j)
{
  if (j > 0) return kg_local_outer(e, l, i, k, j);
  if (i > 0) return kg_local_outer(e, k, j, l, i);
  const int next = (k + 1) % 3, before = (k + 2) % 3;
  return kg_local_slope(e, k, next) * kg_local_outer(e, l, 0, next, 1) +
         kg_local_slope(e, k, before) * kg_local_outer(e, l, 0, before, 1) + kg_local_flux(e, l, k);
}

/// Entry of K^e: mode i of side l, mode j of side k.
KG_INLINE double kg_local_entry(const kg_local_element *e, int l, int i, int k, int j)
{
  switch (e->local.form) {
    case KG_LOCAL_PACKED:
      return kg_local_row(e, kg_packed_entry(l * e->m + i, k * e->m + j));
    case KG_LOCAL_DIFFERENCES:
      return kg_local_from_differences(e, l * e->m + i, k * e->m + j);
    default:
      return kg_local_from_reduced(e, l, i, k, j);
  }
}

KEDGE_END_DECLS

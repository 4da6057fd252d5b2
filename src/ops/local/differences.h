/// @file
/// K^e in single precision, in a basis where rounding does not spoil it (docs/math.md#differences).
///
/// The constants, which are (nearly) the null space of K^e, have mode 0 of all edges in common.
/// Rounding the entries of K^e gives them an energy of 6e-8 of the largest entry, as a reaction
/// term would. So it is rounded for the *differences* x' = C x, of triangles
///
///     x'_0 = x_0 - x_2m,   x'_m = x_m - x_2m,   all other x' = x      (mode 0 of edges 0, 1 and 2)
///     K' = C^-T K^e C^-1,   K^e x = C^T K' C x
///
/// whose row 2 m, of mode 0 of the last edge, is K^e times the constant: small, and relatively
/// exact. With four edges it is row 3 m, and the three others have differences. K' lies as K^e
/// does.
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

/// Entry (i, j) of K', from the lane of K^e, of n rows, that begins at k.
KG_INLINE double kg_local_difference(const double *k, int n, int m, int i, int j)
{
  const int last = n - m;
  double sum = k[kg_local_at(i, j)], row = 0.0, column = 0.0, diagonal = 0.0, mixed = 0.0;
  for (int a = 0; i == last && a < last; a += m) row += k[kg_local_at(a, j)];
  for (int a = 0; j == last && a < last; a += m) column += k[kg_local_at(i, a)];
  for (int a = 0; i == last && j == last && a < last; a += m) {
    diagonal += k[kg_local_at(a, a)];
    for (int b = 0; b < a; b += m) mixed += k[kg_local_at(a, b)];
  }
  if (i == last) sum += row;
  if (j == last) sum += column;
  if (i == last && j == last) sum += diagonal + 2.0 * mixed;
  return sum;
}

/// Entry (i, j) of K^e, from K'.
KG_INLINE double kg_local_from_differences(const kg_local_element *e, int i, int j)
{
  const int m = e->m, last = e->n - m;
  double sum = kg_local_row(e, kg_packed_entry(i, j));
  double row = 0.0, column = 0.0, diagonal = 0.0, mixed = 0.0;
  for (int a = 0; i == last && a < last; a += m) row += kg_local_row(e, kg_packed_entry(a, j));
  for (int a = 0; j == last && a < last; a += m) column += kg_local_row(e, kg_packed_entry(i, a));
  for (int a = 0; i == last && j == last && a < last; a += m) {
    diagonal += kg_local_row(e, kg_packed_entry(a, a));
    for (int b = 0; b < a; b += m) mixed += kg_local_row(e, kg_packed_entry(a, b));
  }
  if (i == last) sum -= row;
  if (j == last) sum -= column;
  if (i == last && j == last) sum += diagonal + 2.0 * mixed;
  return sum;
}

KEDGE_END_DECLS

/// @file
/// K^e in single precision, in a basis where rounding does not spoil it (docs/math.md#differences).
///
/// The constants, which are (nearly) the null space of K^e, have mode 0 of the three edges in
/// common. Rounding the entries of K^e gives them an energy of 6e-8 of the largest entry, as a
/// reaction term would. So it is rounded for the *differences* x' = C x,
///
///     x'_0 = x_0 - x_2m,   x'_m = x_m - x_2m,   all other x' = x      (mode 0 of edges 0, 1 and 2)
///     K' = C^-T K^e C^-1,   K^e x = C^T K' C x
///
/// whose row 2 m is K^e times the constant: small, and relatively exact. K' lies as K^e does.
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

/// Entry (i, j) of K', from the lane of K^e that begins at k.
KG_INLINE double kg_local_difference(const double *k, int m, int i, int j)
{
  const int last = 2 * m;
  double sum = k[kg_local_at(i, j)];
  if (i == last) sum += k[kg_local_at(0, j)] + k[kg_local_at(m, j)];
  if (j == last) sum += k[kg_local_at(i, 0)] + k[kg_local_at(i, m)];
  if (i == last && j == last)
    sum += k[kg_local_at(0, 0)] + k[kg_local_at(m, m)] + 2.0 * k[kg_local_at(m, 0)];
  return sum;
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

KEDGE_END_DECLS

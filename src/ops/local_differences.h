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
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_local_differences_args {
  kg_sizes size;
  int32_t n_groups;
  const double *from;  ///< [group][n (n+1) / 2][lane]: K^e
  float *to;           ///< as `from`: K', rounded
} kg_local_differences_args;

KG_DECLARE_OPERATOR(kg_local_differences, kg_local_differences_args);
kg_cost kg_local_differences_cost(kg_sizes size, int64_t n_elements);

/// Entry (i, j) or (j, i), from where entry (0, 0) lies.
KG_INLINE int64_t kg_local_at(int i, int j)
{
  return (int64_t)kg_packed_entry(i, j) * KG_LANES;
}

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

KEDGE_END_DECLS

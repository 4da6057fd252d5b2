/// @file
/// A factor of the inverse of one packed symmetric positive definite matrix, in place. Shared by
/// host and GPU.
#pragma once
#include <float.h>
#include <math.h>

#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// a = L^-1 of the Cholesky factorization a = L L^T, packed like it, so that its inverse is
/// L^-T L^-1. False: a pivot is lost in the rounding of its diagonal entry.
KG_INLINE bool kg_inverse_factor(int n, double *a)
{
  for (int k = 0; k < n; ++k) {
    double *const row = a + k * (k + 1) / 2;
    const double least = n * DBL_EPSILON * row[k];
    for (int i = 0; i <= k; ++i) {
      const double *const above = a + i * (i + 1) / 2;
      double sum = row[i];
      for (int j = 0; j < i; ++j) sum -= row[j] * above[j];
      if (i < k) row[i] = sum / above[i];
      if (i == k && (!(sum > least) || !(sum <= DBL_MAX))) return false;
      if (i == k) row[k] = sqrt(sum);
    }
  }
  for (int k = 0; k < n; ++k) {  // column k of the inverse takes the place of that of L
    a[kg_packed_entry(k, k)] = 1.0 / a[kg_packed_entry(k, k)];
    for (int i = k + 1; i < n; ++i) {
      double sum = 0.0;
      for (int j = k; j < i; ++j) sum += a[kg_packed_entry(i, j)] * a[kg_packed_entry(j, k)];
      a[kg_packed_entry(i, k)] = -sum / a[kg_packed_entry(i, i)];
    }
  }
  return true;
}

/// Whether the diagonal of a factor lies inside the range of float, and that of its matrix so far
/// inside the range of `number` that products with it stay there too.
KG_INLINE bool kg_factor_fits(int n, const double *factor, kg_number number)
{
  const double most = number == KG_SINGLE ? 0x1p45 : 0x1p120;
  for (int k = 0; k < n; ++k) {
    const double size = factor[kg_packed_entry(k, k)];
    if (!(size >= 1.0 / most && size <= most)) return false;
  }
  return true;
}

KEDGE_END_DECLS

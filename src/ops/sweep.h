/// @file
/// The inverse of one packed symmetric positive definite matrix, in place. Shared by host and GPU.
#pragma once
#include <float.h>
#include <math.h>

#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

enum { KG_SWEEP_MAX = 3 * (KEDGE_ORDER_MAX + 1) };  ///< most rows

/// a = -a^-1, n x n, pivot by pivot (the sweep operator); entries are `stride` apart. The pivots
/// are those of the Cholesky factorization. False: one of them is lost in the rounding of its
/// diagonal entry.
KG_INLINE bool kg_sweep(int n, double *a, int stride)
{
  double column[KG_SWEEP_MAX], least[KG_SWEEP_MAX];
  for (int k = 0; k < n; ++k) least[k] = n * DBL_EPSILON * a[kg_packed_entry(k, k) * stride];
  for (int k = 0; k < n; ++k) {
    const double pivot = a[kg_packed_entry(k, k) * stride];
    if (!(pivot > least[k]) || !(pivot <= DBL_MAX)) return false;
    const double inverse = 1.0 / pivot;
    for (int i = 0; i < n; ++i) column[i] = a[kg_packed_entry(i, k) * stride];
    for (int i = 0, at = 0; i < n; ++i) {
      const double factor = column[i] * inverse;
      for (int j = 0; j <= i; ++j, at += stride)
        if (i == k && j == k)
          a[at] = -inverse;
        else if (i == k || j == k)
          a[at] *= inverse;
        else
          a[at] -= factor * column[j];
    }
  }
  return true;
}

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

/// Whether the diagonal lies so far inside the range of kg_real that products with the matrix stay
/// there too.
KG_INLINE bool kg_sweep_fits(int n, const double *a, int stride)
{
#ifdef KG_COMPILE_SINGLE
  for (int k = 0; k < n; ++k) {
    const double size = fabs(a[kg_packed_entry(k, k) * stride]);
    if (!(size >= 0x1p-90 && size <= 0x1p90)) return false;
  }
#else
  (void)n, (void)a, (void)stride;
#endif
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

/// @file
/// How tests compare numbers. Tolerances are c eps sqrt(terms), times a condition number that the
/// test has computed where a system of equations was solved; NaN never passes.
#pragma once
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "cmocka_all.h"

/// Rounding of a sum of `terms` products, relative to its largest partial sums.
static inline double rounding(double terms)
{
  return 16.0 * DBL_EPSILON * sqrt(terms + 1.0);
}

/// max |v_i|; NaN if there is one.
static inline double largest(size_t n, const double *v)
{
  double most = 0.0;
  for (size_t i = 0; i < n; ++i)
    if (!(fabs(v[i]) <= most)) {
      most = fabs(v[i]);
      if (isnan(most)) break;
    }
  return most;
}

/// max |a_i - b_i| / max |b_i|; where b is zero, max |a_i|. NaN if there is one.
static inline double distance(size_t n, const double *a, const double *b)
{
  double most = 0.0;
  for (size_t i = 0; i < n; ++i)
    if (!(fabs(a[i] - b[i]) <= most)) {
      most = fabs(a[i] - b[i]);
      if (isnan(most)) return most;
    }
  const double scale = largest(n, b);
  return scale > 0.0 ? most / scale : most;
}

#define assert_at_most(value, bound)                                                 \
  do {                                                                               \
    const double value_ = (value), bound_ = (bound);                                 \
    if (!(value_ <= bound_))                                                         \
      fail_msg("%s = %.3e is not within %s = %.3e", #value, value_, #bound, bound_); \
  } while (0)

/// Two arrays agree relative to the largest entry of `b`.
#define assert_close(n, a, b, tolerance) assert_at_most(distance((n), (a), (b)), (tolerance))

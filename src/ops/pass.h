/// @file
/// Additional work in an operator's pass over its vectors, such as a sum, that its caller allows or
/// requests. Operators are independent of the iterative method; what a sum means for it is decided
/// by the kernel that reads the total.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/inline.h"

/// A sum over rows adds at most KG_PIECES partial sums in order: it does not depend on threads.
enum { KG_PIECES = 1024 };

/// Vectors of as many right-hand sides at once: `many` in the arguments of an operator says that
/// its vectors are [row][vector], and that a sum has as many totals.
enum {
  KG_VECTORS = 4,
  KG_MANY_MODES_MAX = 7,  ///< there are operators of many vectors up to as many modes of a facet
};

/// A sum that an operator makes on the way. All of it lies in device memory.
typedef struct kg_sum {
  double *part;             ///< work: [patch or piece of rows], as the operator says
  double *total;            ///< becomes 2^-exponent times the sum; NULL: no sum is wanted
  const int32_t *exponent;  ///< NULL: 0
  const double *before;     ///< a sum that is there already and is added; NULL: none
  /// Numbers of double between the totals of many vectors, and parts of each of them; `exponent` is
  /// [vector] then, `before` NULL.
  int64_t stride, parts;
} kg_sum;

/// The sum of one of many vectors.
KG_INLINE kg_sum kg_sum_of(const kg_sum *sum, int vector)
{
  kg_sum of = *sum;
  of.part += vector * sum->parts;
  of.total += vector * sum->stride;
  if (of.exponent) of.exponent += vector;
  return of;
}

/// Rows of a product to which something is still to be added.
typedef struct kg_open {
  int64_t first, n;  ///< n = 0: the product is complete
  const void *halo;  ///< [n], of the type of the product: what is to be added
} kg_open;

/// A step of many vectors that an operator makes on its way, where it reads r anyway: r += factor y
/// and r . r of each of them. Their numbers are double. In device memory.
typedef struct kg_advance {
  double *r;  ///< NULL: there is no step
  const double *y;
  kg_open open;          ///< of y
  const double *factor;  ///< of a vector; the next is sum.stride numbers on
  kg_sum sum;            ///< r . r, with KG_PIECES parts
} kg_advance;

/// Number i of y: what is in it, and the halo where the row is open.
KG_INLINE double kg_advance_closed(const kg_advance *a, int64_t i)
{
  const int64_t at = i - a->open.first;
  return at >= 0 && at < a->open.n ? a->y[i] + ((const double *)a->open.halo)[at] : a->y[i];
}

/// The factor of a vector.
KG_INLINE double kg_advance_factor(const kg_advance *a, int vector)
{
  return a->factor[vector * a->sum.stride];
}

/// NULL and false ask for a complete product alone.
typedef struct kg_pass {
  const int32_t *stop;  ///< in device memory: the operator does nothing where this is not 0
  kg_sum sum;           ///< x . y of y = A x
  kg_open *open;        ///< of the host: the operator may leave rows open, and says here which
  bool after_vectors;   ///< the kernel in front writes vectors alone: it may overlap with this one
  bool many;            ///< of KG_VECTORS vectors
} kg_pass;

/// Whether nothing is to be done. `stop` is memory of the caller's side.
KG_INLINE bool kg_stopped(const int32_t *stop)
{
  return stop != (const int32_t *)0 && *stop != 0;
}

KG_INLINE void kg_sum_end(const kg_sum *sum, double total)
{
  if (sum->before) total = *sum->before + total;
  *sum->total = sum->exponent ? ldexp(total, -*sum->exponent) : total;
}

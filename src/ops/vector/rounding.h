/// @file
/// How much of a residual is rounding: the numbers of x are changed as storing them changes them,
/// and the product A with these changes is what no solver can see (docs/multigrid.md).
#pragma once
#include <float.h>

#include "ops/ops.h"
#include "ops/pass.h"
#include "ops/vector/random_vector.h"
KEDGE_BEGIN_DECLS

/// A change that storing x_i may make: a part of the unit roundoff, always the same for one i.
KG_INLINE double kg_rounding_of(double x, int64_t i)
{
  return 0.5 * DBL_EPSILON * kg_random_number(i) * x;
}

typedef struct kg_rounding_args {
  int64_t n;                ///< rows of free edges
  const double *x;          ///< [n]: perturb
  kg_number number;         ///< of these two
  void *p;                  ///< [n], out: perturb
  const void *ap;           ///< [n] A p: sum
  const int32_t *exponent;  ///< in device memory; NULL: 0
  double *part, *total;     ///< work of KG_PIECES, and out, in device memory: sum
} kg_rounding_args;

/// p = 2^exponent times the rounding of x, in the rows of free edges.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_rounding_perturb, kg_rounding_args);
/// total = 4^-exponent ap . ap.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_rounding_sum, kg_rounding_args);

/// The cost of both passes, without the product between them.
kg_cost kg_rounding_cost(int64_t n);

KEDGE_END_DECLS

/// @file
/// How much of a residual is rounding: the numbers of x are changed as storing them changes them,
/// and the product A with these changes is what no solver can see (docs/multigrid.md).
#pragma once
#include <float.h>

#include "ops/cg_vectors.h"
#include "ops/random_vector.h"
KEDGE_BEGIN_DECLS

/// What storing x_i may change: a part of the unit roundoff, always the same for one i.
KG_INLINE double kg_rounding_of(double x, int64_t i)
{
  return 0.5 * DBL_EPSILON * kg_random_number(i) * x;
}

/// p = the rounding of x, in the rows of free edges. Of the arguments n, x, p and state are read.
/// In an iteration of single precision (r_single) p is 2^exponent times that, and so is ap below.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_rounding_perturb, kg_cg_vectors_args);
/// rr = ap . ap, into the state. Of the arguments n, ap, partial and state are read.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_rounding_sum, kg_cg_vectors_args);

/// The cost of both passes, without the product between them.
kg_cost kg_rounding_cost(int64_t n);

KEDGE_END_DECLS

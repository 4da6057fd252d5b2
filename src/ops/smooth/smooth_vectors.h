/// @file
/// The vector passes of a step of Chebyshev's iteration whose B^-1 is a product of its own
/// (precondition/smoother.h):
///
///     v = r - A z                             kg_smooth_residual
///     y = B^-1 v
///     d = momentum d + step y,  z += d, r . z kg_smooth_advance
#pragma once
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_smooth_vectors_args {
  int64_t n;              ///< rows of free edges
  kg_number number;       ///< of these six
  const void *r;          ///< [n]
  const void *product;    ///< [n] A z; NULL where z is zero: residual
  void *v;                ///< [n], may be the product: residual
  const void *y;          ///< [n]: advance
  void *z;                ///< [n]: advance
  void *d;                ///< [n], NULL: there is no step after this one
  double step, momentum;  ///< momentum 0: d is not read
  bool from_zero;         ///< advance: z is zero, whatever it holds
  kg_sum sum;             ///< of r . z, with KG_PIECES parts: advance
} kg_smooth_vectors_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_smooth_residual, kg_smooth_vectors_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_smooth_advance, kg_smooth_vectors_args);
/// The cost of both passes, without d.
kg_cost kg_smooth_vectors_cost(int64_t n, kg_number number);

KEDGE_END_DECLS

/// @file
/// A residual from a product, with its sum of squares.
#pragma once
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_difference_args {
  int64_t n;        ///< rows
  const double *b;  ///< [n]; NULL: b is zero
  double *r;        ///< [n] A x, in which rows may be open; then b - A x
  kg_open open;
  kg_sum sum;  ///< r . r, with KG_PIECES parts; `total` is not NULL
  bool many;   ///< rows of KG_VECTORS vectors, one behind the other: n counts all
} kg_difference_args;

/// r = b - r.
KG_DECLARE_OPERATOR(kg_difference, kg_difference_args);

KEDGE_END_DECLS

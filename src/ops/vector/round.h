/// @file
/// Double to single precision: to = 2^exponent from, rounded.
#pragma once
#include <math.h>

#include "core/inline.h"
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_round_args {
  int64_t n;
  const double *from;       ///< [n]
  float *to;                ///< [n]
  const int32_t *exponent;  ///< in device memory; NULL: 0
  kg_advance advance;       ///< a step that `from` takes first, with many vectors
  bool many;                ///< of KG_VECTORS vectors: [row][vector], n counts all; [vector]
} kg_round_args;

KG_DECLARE_OPERATOR(kg_round, kg_round_args);
kg_cost kg_round_cost(int64_t n);

/// The exponent that brings the norm of a residual near one, so that neither it nor what is made of
/// it leaves the range of single precision, however large the problem's numbers are.
KG_INLINE int32_t kg_round_exponent(double rr)
{
  return rr > 0.0 && isfinite(rr) ? -(ilogb(rr) / 2) : 0;
}

KEDGE_END_DECLS

/// @file
/// Double to single precision: to = 2^exponent from, rounded.
#pragma once
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_round_args {
  int64_t n;
  const double *from;       ///< [n]
  float *to;                ///< [n]
  const int32_t *exponent;  ///< in device memory; NULL: 0
} kg_round_args;

KG_DECLARE_OPERATOR(kg_round, kg_round_args);
kg_cost kg_round_cost(int64_t n);

KEDGE_END_DECLS

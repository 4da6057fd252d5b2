/// @file
/// Find the first number of a vector that is not finite, so that a caller's array can be refused.
#pragma once
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_first_bad_args {
  int64_t n;
  const double *x;   ///< numbers of the type below
  int64_t *bad;      ///< in host memory: its index; -1: all are finite
  kg_number number;  ///< KG_DOUBLE is 0
} kg_first_bad_args;

/// Look, and wait for the answer.
KG_DECLARE_OPERATOR(kg_first_bad, kg_first_bad_args);

KEDGE_END_DECLS

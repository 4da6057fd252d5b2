/// @file
/// The trace operator A in one of its forms: what the recurrence multiplies with.
#pragma once
#include "kedge/problem.h"
#include "ops/ell.h"
#include "ops/trace_apply.h"
#include "ops/trace_plain.h"

typedef struct kg_trace_operator {
  kedge_operator kind;
  double *partial;  ///< work for a sum
  /// x, y and the pass are filled in by kg_trace_operator_apply()
  kg_trace_apply_args matrix_free;
  kg_trace_plain_args plain;
  kg_ell_apply_args ell;
} kg_trace_operator;

/// y = A x, in the number of the operator.
kedge_status kg_trace_operator_apply(kedge_context *ctx, const kg_trace_operator *op, const void *x,
                                     void *y, kg_pass pass);

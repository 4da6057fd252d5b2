#include "solver/trace_operator.h"

kedge_status kg_trace_operator_apply(kedge_context *ctx, const kg_trace_operator *op, const void *x,
                                     void *y, kg_pass pass)
{
  if (op->kind == KEDGE_OPERATOR_ELL) {
    kg_ell_apply_args args = op->ell;
    args.x = x;
    args.y = y;
    args.pass = pass;
    return kg_ell_apply(ctx, &args);
  }
  if (op->kind == KEDGE_OPERATOR_MATRIX_FREE_PLAIN) {
    kg_trace_plain_args args = op->plain;
    args.x = x;
    args.y = y;
    args.pass = pass;
    return kg_trace_plain(ctx, &args);
  }
  kg_trace_apply_args args = op->matrix_free;
  args.x = x;
  args.y = y;
  args.pass = pass;
  return kg_trace_apply(ctx, &args);
}

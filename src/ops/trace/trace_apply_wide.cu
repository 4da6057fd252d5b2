// trace_apply_wide.cu: the streaming patch kernel of quadrilaterals.
#include "ops/trace/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_wide)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return launch_orders<4, false, KEDGE_ORDER_MIN, KG_WIDE_ORDER_MAX>(ctx, a);
}

// trace_apply_reduced_low.cu: the streaming patch kernel of orders 1 to 7, of reduced K^e.
#include "ops/trace/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_reduced_low)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return launch_streams<3, true, KG_MODES_MIN, KG_STREAM_LOW_MAX>(ctx, a);
}

// trace_apply_stream_low.cu: the streaming patch kernel of orders 1 to 7.
#include "ops/trace/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_stream_low)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return launch_streams<3, false, KG_MODES_MIN, KG_STREAM_LOW_MAX>(ctx, a);
}

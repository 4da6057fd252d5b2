// trace_apply_reduced_high.cu: the streaming patch kernel of orders 8 to 12, of reduced K^e.
#include "ops/trace/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_reduced_high)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return launch_streams<3, true, KG_STREAM_LOW_MAX + 1, kg_modes_max(3)>(ctx, a);
}

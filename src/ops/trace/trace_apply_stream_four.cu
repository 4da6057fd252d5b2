// trace_apply_stream_four.cu: the streaming patch kernel of elements with four facets.
#include "ops/trace/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_stream_four)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return launch_streams<4, false, KG_MODES_MIN, kg_modes_max(4)>(ctx, a);
}

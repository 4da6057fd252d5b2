// trace_apply_stream_low.cu: the streaming patch kernel of orders 1 to 7.
#include "ops/trace_apply_stream.cuh"

kedge_status kg_trace_apply_stream_low(kedge_context *ctx, const kg_trace_apply_args *a)
{
  static constexpr kedge_status (*by_order[])(kedge_context *, const kg_trace_apply_args &) = {
      kg::launch_stream<1>, kg::launch_stream<2>, kg::launch_stream<3>, kg::launch_stream<4>,
      kg::launch_stream<5>, kg::launch_stream<6>, kg::launch_stream<7>};
  static_assert(sizeof by_order / sizeof *by_order == KG_STREAM_LOW_MAX, "one entry per order");
  return by_order[a->batch.reference.size.order - 1](ctx, *a);
}

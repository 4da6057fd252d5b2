// trace_apply_stream_low.cu: the streaming patch kernel of orders 1 to 7.
#include "ops/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_stream_low)(kedge_context *ctx, const kg_trace_apply_args *a)
{
  static constexpr kedge_status (*by_order[])(kedge_context *, const kg_trace_apply_args &) = {
      launch_stream<1>, launch_stream<2>, launch_stream<3>, launch_stream<4>,
      launch_stream<5>, launch_stream<6>, launch_stream<7>};
  static_assert(sizeof by_order / sizeof *by_order == KG_STREAM_LOW_MAX, "one entry per order");
  return by_order[a->batch.reference.size.order - 1](ctx, *a);
}

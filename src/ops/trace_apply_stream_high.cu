// trace_apply_stream_high.cu: the streaming patch kernel of orders 8 to 12.
#include "ops/trace_apply_stream.cuh"

kedge_status KG_REAL(kg_trace_apply_stream_high)(kedge_context *ctx, const kg_trace_apply_args *a)
{
  static constexpr kedge_status (*by_order[])(kedge_context *, const kg_trace_apply_args &) = {
      launch_stream<8>, launch_stream<9>, launch_stream<10>, launch_stream<11>, launch_stream<12>};
  static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX - KG_STREAM_LOW_MAX,
                "one entry per order");
  return by_order[a->batch.reference.size.order - 1 - KG_STREAM_LOW_MAX](ctx, *a);
}

// trace_apply_many_reduced.cu: the kernel of many vectors and reduced K^e.
#include "ops/trace/trace_apply_many.cuh"

kedge_status KG_REAL(kg_trace_apply_many_reduced)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_order<KEDGE_ORDER_MIN, KG_MANY_ORDER_MAX>(
      a.batch.reference.size.order, [&](auto p) { return launch_many<p(), true>(ctx, a); });
}

// trace_apply_many.cu: the kernel of many vectors and packed K^e; how much shared memory both need.
#include "ops/trace/trace_apply_many.cuh"

extern "C" bool KG_REAL(kg_trace_many_fits)(kedge_context *ctx, const kg_trace_apply_args *a)
{
  const bool reduced = a->local.layout == KG_LAYOUT_REDUCED;
  const size_t bytes =
      kg_with_order<KEDGE_ORDER_MIN, KG_MANY_ORDER_MAX>(a->batch.reference.size.order, [&](auto p) {
        return reduced ? many_shape<p(), true>::bytes(a->batch.count)
                       : many_shape<p(), false>::bytes(a->batch.count);
      });
  return kg_cuda(ctx)->code_major >= 9 && bytes <= (size_t)kg_cuda(ctx)->shared_limit;
}

kedge_status KG_REAL(kg_trace_apply_many_packed)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_order<KEDGE_ORDER_MIN, KG_MANY_ORDER_MAX>(
      a.batch.reference.size.order, [&](auto p) { return launch_many<p(), false>(ctx, a); });
}

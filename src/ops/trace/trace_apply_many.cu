// trace_apply_many.cu: the kernel of many vectors and packed K^e; how much shared memory both need.
#include "ops/trace/trace_apply_many.cuh"

extern "C" bool KG_REAL(kg_trace_many_fits)(kedge_context *ctx, const kg_trace_apply_args *a)
{
  const bool reduced = a->local.layout == KG_LAYOUT_REDUCED;
  size_t bytes = 0;
  const auto find = [&](auto m) {
    bytes = reduced ? many_shape<m(), true>::bytes(a->batch.count)
                    : many_shape<m(), false>::bytes(a->batch.count);
    return KEDGE_OK;
  };
  if (kg_with_modes<KG_MODES_MIN, KG_MANY_MODES_MAX>(ctx, a->batch.m, find) != KEDGE_OK)
    return false;
  return kg_cuda(ctx)->code_major >= 9 && bytes <= (size_t)kg_cuda(ctx)->shared_limit;
}

kedge_status KG_REAL(kg_trace_apply_many_packed)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_modes<KG_MODES_MIN, KG_MANY_MODES_MAX>(
      ctx, a.batch.m, [&](auto m) { return launch_many<m(), false>(ctx, a); });
}

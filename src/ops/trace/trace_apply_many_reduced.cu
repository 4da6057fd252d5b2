// trace_apply_many_reduced.cu: the kernel of many vectors and reduced K^e.
#include "ops/trace/trace_apply_many.cuh"

kedge_status KG_REAL(kg_trace_apply_many_reduced)(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_modes<KG_MODES_MIN, KG_MANY_MODES_MAX>(
      ctx, a.batch.m, [&](auto m) { return launch_many<m(), true>(ctx, a); });
}

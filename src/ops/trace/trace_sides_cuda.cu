// trace_sides_cuda.cu: the sides of all elements from the codes of their patches (trace_sides.h).
//
// Map     thread = lane.
// Cost    28 bytes an element, in whole lines, and the edges of a patch's halo, which are in cache.
#include "device/cuda_each.cuh"
#include "ops/trace/trace_sides.h"

namespace
{
constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK) trace_sides_kernel(const kg_trace_sides_args a)
{
  const int64_t lane = kg_thread_number();
  if (lane < (int64_t)a.batch.count.n_groups * KG_LANES) kg_put_sides(&a, (int32_t)lane);
}
}  // namespace

extern "C" kedge_status kg_trace_sides_cuda(kedge_context *ctx, const kg_trace_sides_args *args)
{
  return kg_launch_each<BLOCK>(ctx, "making the sides of elements",
                               (int64_t)args->batch.count.n_groups * KG_LANES, trace_sides_kernel,
                               *args);
}

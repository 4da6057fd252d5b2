// trace_sides_cuda.cu: the sides of all elements from the codes of their patches (trace_sides.h).
//
// Map     thread = lane.
// Cost    28 bytes an element, in whole lines, and the edges of a patch's halo, which are in cache.
#include "device/cuda_each.cuh"
#include "ops/trace/trace_sides.h"

extern "C" kedge_status kg_trace_sides_cuda(kedge_context *ctx, const kg_trace_sides_args *args)
{
  return kg_do_each<256, kg_put_sides>(ctx, "making the sides of elements",
                                       (int64_t)args->batch.count.n_groups * KG_LANES, *args);
}

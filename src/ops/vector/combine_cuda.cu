// combine_cuda.cu: sums of a few vectors with factors.
// Map     a thread is an entry.
// Cost    reads each vector, writes one.
#include "device/cuda_each.cuh"
#include "ops/vector/combine.h"

extern "C" kedge_status kg_combine_cuda(kedge_context *ctx, const kg_combine_args *a)
{
  return kg_do_each<256, kg_combine_one>(ctx, "combine", a->n, *a);
}

// random_vector_cuda.cu: thread = number.
#include "backend/cuda_rt.h"
#include "ops/random_vector.h"

namespace
{
__global__ void random_vector_kernel(const kg_random_vector_args a)
{
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.n) a.x[i] = kg_random_number(i);
}
}  // namespace

extern "C" kedge_status kg_random_vector_cuda(kedge_context *ctx, const kg_random_vector_args *a)
{
  if (a->n == 0) return KEDGE_OK;  // an empty grid is a launch error
  random_vector_kernel<<<(unsigned)((a->n + 255) / 256), 256, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "random_vector");
}

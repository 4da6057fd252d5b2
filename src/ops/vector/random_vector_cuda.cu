// random_vector_cuda.cu: thread = number.
#include "device/cuda_each.cuh"
#include "ops/vector/random_vector.h"

namespace
{
__global__ void random_vector_kernel(const kg_random_vector_args a)
{
  const int64_t i = kg_thread_number();
  if (i < a.n) a.x[i] = kg_random_number(i);
}
}  // namespace

extern "C" kedge_status kg_random_vector_cuda(kedge_context *ctx, const kg_random_vector_args *a)
{
  return kg_launch_each<256>(ctx, "random_vector", a->n, random_vector_kernel, *a);
}

// random_vector_cuda.cu: thread = number.
#include "device/cuda_each.cuh"
#include "ops/vector/random_vector.h"

extern "C" kedge_status kg_random_vector_cuda(kedge_context *ctx, const kg_random_vector_args *a)
{
  return kg_do_each<256, kg_random_entry>(ctx, "random_vector", a->n, *a);
}

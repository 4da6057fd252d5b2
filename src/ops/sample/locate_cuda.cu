// locate_cuda.cu: values of a field at points anywhere (locate.h).
// Map     thread = point: points near each other go the same way through the tree
// Cost    boxes on the way, 32 bytes each, in space 48, maps, and the nodes of one element, once a
// polynomial
#include "device/cuda_each.cuh"
#include "ops/sample/locate.h"

namespace
{
enum { THREADS = 128 };

template <int DIMENSION>
__global__ void __launch_bounds__(THREADS) locate_kernel(const __grid_constant__ kg_locate_args a)
{
  const int64_t i = kg_thread_number();
  if (i < a.n) kg_locate_point(DIMENSION, &a, i);
}
}  // namespace

extern "C" kedge_status kg_locate_cuda(kedge_context *ctx, const kg_locate_args *a)
{
  return kg_launch_each<THREADS>(ctx, "values at points", a->n,
                                 a->z ? locate_kernel<3> : locate_kernel<2>, *a);
}

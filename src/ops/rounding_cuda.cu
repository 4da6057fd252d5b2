// rounding_cuda.cu: the changes of x that rounding makes, and the sum of squares of their product.
// Map     as in pcg_vectors_cuda.cu: blocks stride over rows, each leaves one partial sum, the last
//         block to arrive adds them in order.
// Cost    perturb reads x and writes p; sum reads A p.
#include "ops/cg_passes.cuh"
#include "ops/rounding.h"

namespace
{

__global__ void __launch_bounds__(THREADS, BLOCKS)
    perturb_kernel(const kg_cg_vectors_args a, unsigned *)
{
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    a.p[i] = kg_rounding_of(a.x[i], i);
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    sum_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  double sum = 0.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    sum += a.ap[i] * a.ap[i];
  sum = kg_block_sum(sum, s_warp);
  if (threadIdx.x == 0) a.partial[blockIdx.x] = sum;
  if (!kg_last_block(counter)) return;
  sum = kg_array_sum(a.partial, gridDim.x, s_warp);
  if (threadIdx.x == 0) a.state->rr = sum;
}

}  // namespace

extern "C" kedge_status kg_rounding_perturb_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, perturb_kernel, "rounding_perturb");
}

extern "C" kedge_status kg_rounding_sum_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, sum_kernel, "rounding_sum");
}

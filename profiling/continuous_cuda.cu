// continuous_cuda.cu: a block of threads eliminates the interior of one triangle in shared memory.
#include "continuous_block.h"
#include "device/cuda_rt.h"

namespace
{
constexpr int BLOCK = 128;

__global__ void __launch_bounds__(BLOCK) eliminate_kernel(const cont_block_args a)
{
  extern __shared__ double rows[];
  const int triangle = (int)blockIdx.x, thread = (int)threadIdx.x;
  cont_block_fill(&a, triangle, rows, thread, BLOCK);
  __syncthreads();
  for (int k = 0; k < a.n_inner; ++k) {
    cont_block_scale(&a, rows, k, sqrt(rows[k * (k + 1) / 2 + k]), thread, BLOCK);
    __syncthreads();
    cont_block_update(&a, rows, k, thread, BLOCK);
    __syncthreads();
  }
  cont_block_store(&a, triangle, rows, thread, BLOCK);
}
}  // namespace

extern "C" kedge_status cont_eliminate_cuda(kedge_context *ctx, const cont_block_args *args)
{
  const size_t bytes = (size_t)(args->n_modes + 1) * (args->n_modes + 2) / 2 * sizeof(double);
  eliminate_kernel<<<(unsigned)args->n_triangles, BLOCK, bytes, kg_cuda_stream(ctx)>>>(*args);
  return kg_cuda_launched(ctx, "eliminating interior modes");
}

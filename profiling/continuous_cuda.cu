// continuous_cuda.cu: a block of threads eliminates the interior of one triangle in shared memory.
#include "continuous_block.h"
#include "device/cuda_rt.h"

namespace
{
__global__ void __launch_bounds__(CONT_BLOCK) eliminate_kernel(const cont_block_args a)
{
  extern __shared__ double rows[];
  for (int phase = 0; phase < cont_block_phases(&a); ++phase) {
    if (phase > 0) __syncthreads();
    cont_block_phase(&a, (int)blockIdx.x, rows, phase, (int)threadIdx.x);
  }
}
}  // namespace

extern "C" kedge_status cont_eliminate_cuda(kedge_context *ctx, const cont_block_args *args)
{
  const size_t bytes = (size_t)(args->n_modes + 1) * (args->n_modes + 2) / 2 * sizeof(double);
  eliminate_kernel<<<(unsigned)args->n_triangles, CONT_BLOCK, bytes, kg_cuda_stream(ctx)>>>(*args);
  return kg_cuda_launched(ctx, "eliminating interior modes");
}

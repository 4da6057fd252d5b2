// source_cuda.cu: sources of waves.
// Formula  ops/waves/source.h
// Map      a thread a number of the data: no two of them have one node and field
// Cost     kg_wave_source_cost()
#include "device/cuda_launch.cuh"
#include "ops/waves/source.h"

namespace
{

enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS)
    wave_source(const __grid_constant__ kg_wave_source_args a, int64_t n)
{
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (i < n) kg_wave_add_source(&a, i);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_wave_source_cuda)(kedge_context *ctx,
                                                     const kg_wave_source_args *args)
{
  const int64_t n = (int64_t)args->n * args->n_sources * args->stage.n;
  if (n == 0) return KEDGE_OK;
  return kg_launch(ctx, "wave_source", (unsigned)((n + THREADS - 1) / THREADS), THREADS, 0,
                   wave_source, *args, n);
}

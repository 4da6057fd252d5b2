// smooth_vectors_cuda.cu: the vector passes of a Chebyshev step (smooth_vectors.h).
// Map     as many blocks as the device holds at once stride over rows; where the sum is wanted,
//         each leaves a partial one, and the last block to arrive adds them in order: the bits
//         depend on n and on the number of multiprocessors alone.
// Cost    kg_smooth_vectors_cost()
#include "device/cuda_launch.cuh"
#include "ops/real.h"
#include "ops/vector/grid_sum.cuh"
#include "ops/smooth/smooth_vectors.h"

namespace
{

enum { THREADS = 512, BLOCKS = 2 };  // BLOCKS: on a multiprocessor

__global__ void __launch_bounds__(THREADS)
    KG_REAL(smooth_residual_kernel)(const kg_smooth_vectors_args a, unsigned *)
{
  const kg_real *const r = (const kg_real *)a.r, *const product = (const kg_real *)a.product;
  kg_real *const v = (kg_real *)a.v;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    v[i] = product != nullptr ? r[i] - product[i] : r[i];
}

__global__ void __launch_bounds__(THREADS)
    KG_REAL(smooth_advance_kernel)(const kg_smooth_vectors_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  const kg_real *const r = (const kg_real *)a.r, *const y = (const kg_real *)a.y;
  kg_real *const z = (kg_real *)a.z, *const direction = (kg_real *)a.d;
  const kg_real step = (kg_real)a.step, momentum = (kg_real)a.momentum;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  double dot = 0.0;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride) {
    kg_real d = step * y[i];
    if (momentum != 0) d += momentum * direction[i];
    if (direction != nullptr) direction[i] = d;
    const kg_real sum = a.from_zero ? d : z[i] + d;
    z[i] = sum;
    if (a.sum.total != nullptr) dot += (double)r[i] * sum;
  }
  if (a.sum.total != nullptr) kg_grid_sum_end(dot, a.sum, counter, s_warp);
}

kedge_status launch(kedge_context *ctx, const kg_smooth_vectors_args *a,
                    void (*kernel)(kg_smooth_vectors_args, unsigned *), const char *name)
{
  int64_t pieces = (a->n + THREADS - 1) / THREADS;
  if (pieces > KG_PIECES) pieces = KG_PIECES;
  // One block at least: without rows the sum is still written.
  return kg_launch(ctx, name, kg_cuda_blocks(ctx, pieces, BLOCKS), THREADS, 0, kernel, *a,
                   kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_smooth_residual_cuda)(kedge_context *ctx,
                                                         const kg_smooth_vectors_args *a)
{
  return launch(ctx, a, KG_REAL(smooth_residual_kernel), "smooth_residual");
}

extern "C" kedge_status KG_REAL(kg_smooth_advance_cuda)(kedge_context *ctx,
                                                        const kg_smooth_vectors_args *a)
{
  return launch(ctx, a, KG_REAL(smooth_advance_kernel), "smooth_advance");
}

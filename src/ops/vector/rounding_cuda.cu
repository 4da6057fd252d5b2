// rounding_cuda.cu: the changes of x that rounding makes, and the sum of squares of their product.
// Map     as in pcg_vectors_cuda.cu: blocks stride over rows, each leaves one partial sum, the last
//         block to arrive adds them in order.
// Cost    perturb reads x and writes p; sum reads A p.
#include "ops/vector/grid_sum.cuh"
#include "ops/real.h"
#include "ops/vector/rounding.h"
#include "ops/vector/row_passes.cuh"

namespace
{

__global__ void __launch_bounds__(THREADS, BLOCKS)
    perturb_kernel(const kg_rounding_args a, unsigned *)
{
  kg_real *const p = (kg_real *)a.p;
  const double scale = a.exponent ? ldexp(1.0, *a.exponent) : 1.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    p[i] = (kg_real)(scale * kg_rounding_of(a.x[i], i));
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    sum_kernel(const kg_rounding_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  const kg_real *const ap = (const kg_real *)a.ap;
  double sum = 0.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    sum += (double)ap[i] * ap[i];
  if (!kg_grid_sum(&sum, a.part, counter, s_warp)) return;
  *a.total = ldexp(sum, a.exponent ? -2 * *a.exponent : 0);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_rounding_perturb_cuda)(kedge_context *ctx,
                                                          const kg_rounding_args *a)
{
  return launch(ctx, a, perturb_kernel, "rounding_perturb");
}

extern "C" kedge_status KG_REAL(kg_rounding_sum_cuda)(kedge_context *ctx, const kg_rounding_args *a)
{
  return launch(ctx, a, sum_kernel, "rounding_sum");
}

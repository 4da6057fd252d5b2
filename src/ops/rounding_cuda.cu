// rounding_cuda.cu: the changes of x that rounding makes, and the sum of squares of their product.
// Map     as in pcg_vectors_cuda.cu: blocks stride over rows, each leaves one partial sum, the last
//         block to arrive adds them in order.
// Cost    perturb reads x and writes p; sum reads A p.
#include "ops/cg_passes.cuh"
#include "ops/judged_sum.cuh"
#include "ops/pcg_rows.h"
#include "ops/rounding.h"

namespace
{

__global__ void __launch_bounds__(THREADS, BLOCKS)
    perturb_kernel(const kg_cg_vectors_args a, unsigned *)
{
  const pcg_rows v = pcg_rows_of(&a);
  const double scale = ldexp(1.0, pcg_exponent(a.state));
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    v.p[i] = (kg_real)(scale * kg_rounding_of(a.x[i], i));
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    sum_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  const pcg_rows v = pcg_rows_of(&a);
  double sum = 0.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    sum += (double)v.ap[i] * v.ap[i];
  if (!kg_grid_sum(&sum, a.partial, counter, s_warp)) return;
  a.state->rr = ldexp(sum, -2 * pcg_exponent(a.state));
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_rounding_perturb_cuda)(kedge_context *ctx,
                                                          const kg_cg_vectors_args *a)
{
  return launch(ctx, a, perturb_kernel, "rounding_perturb");
}

extern "C" kedge_status KG_REAL(kg_rounding_sum_cuda)(kedge_context *ctx,
                                                      const kg_cg_vectors_args *a)
{
  return launch(ctx, a, sum_kernel, "rounding_sum");
}

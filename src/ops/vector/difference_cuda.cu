// difference_cuda.cu: r = b - r, and r . r.
// Map     as many blocks as the device holds at once stride over rows; each block leaves one
//         partial sum; the last block to arrive adds them in order.
// Cost    reads b and A x, writes r.
#include "ops/vector/difference.h"
#include "ops/vector/grid_sum.cuh"
#include "ops/vector/row_passes.cuh"

namespace
{

template <int K>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    difference_kernel(const kg_difference_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32 * K];
  double rr = 0.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride) {
    const double r = (a.b ? a.b[i] : 0.0) - closed_row(a.r[i], a.open, i);
    a.r[i] = r;
    rr += r * r;
  }
  kg_grid_sums_end<K>(rr, a.sum, counter, s_warp);
}

}  // namespace

extern "C" kedge_status kg_difference_cuda(kedge_context *ctx, const kg_difference_args *a)
{
  return launch(ctx, a, a->many ? difference_kernel<KG_VECTORS> : difference_kernel<1>,
                "difference");
}

// csr_diagonal_cuda.cu: the diagonal of a matrix, and norms in it. Thread = row; norms by
// KG_CSR_PIECES blocks, each of which leaves its part of the sums.
#include "device/cuda_each.cuh"
#include "precondition/amg/csr_diagonal.h"

namespace
{
enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK) csr_diagonal_kernel(const kg_csr_diagonal_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  const bool sound = i >= a.matrix.n_rows || kg_csr_diagonal_row(&a, i);
  if (__syncthreads_or(!sound) && threadIdx.x == 0) atomicExch(a.faults, 1);
}

__global__ void __launch_bounds__(BLOCK) csr_norms_kernel(const kg_csr_norms_args a)
{
  __shared__ double s_warp[BLOCK / 32];
  double xx = 0.0, yy = 0.0;
  for (int64_t i = kg_thread_number(); i < a.n; i += (int64_t)KG_CSR_PIECES * BLOCK) {
    xx += a.x[i] * a.x[i] * a.diagonal[i];
    yy += a.y[i] * a.y[i] * a.diagonal[i];
  }
  xx = kg_block_sum(xx, s_warp);
  yy = kg_block_sum(yy, s_warp);
  if (threadIdx.x != 0) return;
  a.partial[blockIdx.x] = xx;
  a.partial[KG_CSR_PIECES + blockIdx.x] = yy;
}
}  // namespace

extern "C" kedge_status kg_csr_diagonal_cuda(kedge_context *ctx, const kg_csr_diagonal_args *args)
{
  return kg_launch_each<BLOCK>(ctx, "csr_diagonal", args->matrix.n_rows, csr_diagonal_kernel,
                               *args);
}

extern "C" kedge_status kg_csr_norms_cuda(kedge_context *ctx, const kg_csr_norms_args *args)
{
  return kg_launch(ctx, "csr_norms", KG_CSR_PIECES, BLOCK, 0, csr_norms_kernel, *args);
}

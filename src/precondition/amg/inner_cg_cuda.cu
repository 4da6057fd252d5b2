// inner_cg_cuda.cu: passes over the vectors of conjugate gradients inside a coarse solver. Thread =
// number of a vector; sums as in ops/vector/row_passes.cuh, where the step from number to number is
// a multiple of KG_VECTORS: a thread has numbers of one vector. Bound by memory or latency.
#include "device/cuda_each.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/vector/row_passes.cuh"
#include "precondition/amg/inner_cg.h"

namespace
{

/// The sum of p . (r - next), or of r . z.
template <int K, bool P_AP>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    inner_cg_sum_kernel(const kg_inner_cg_args a, unsigned *counter)
{
  __shared__ double s_sum[THREADS / 32 * K];
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  double sum = 0.0;
  for (int64_t i = kg_thread_number(); i < a.n; i += stride)
    sum += P_AP ? a.p[i] * (a.r[i] - a.next[i]) : a.r[i] * a.z[i];
  kg_grid_sums_end<K>(sum, a.sum, counter, s_sum);
}

template <bool P_AP>
kedge_status add(kedge_context *ctx, const kg_inner_cg_args *a, const char *name)
{
  return launch(
      ctx, a, a->many ? inner_cg_sum_kernel<KG_VECTORS, P_AP> : inner_cg_sum_kernel<1, P_AP>, name);
}

}  // namespace

extern "C" kedge_status kg_inner_cg_rz_cuda(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return add<false>(ctx, a, "inner_cg_rz");
}

extern "C" kedge_status kg_inner_cg_p_ap_cuda(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return add<true>(ctx, a, "inner_cg_p_ap");
}

extern "C" kedge_status kg_inner_cg_direction_cuda(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return kg_do_each<THREADS, kg_inner_cg_direction_number>(ctx, "inner_cg_direction", a->n, *a);
}

extern "C" kedge_status kg_inner_cg_update_cuda(kedge_context *ctx, const kg_inner_cg_args *a)
{
  return kg_do_each<THREADS, kg_inner_cg_update_number>(ctx, "inner_cg_update", a->n, *a);
}

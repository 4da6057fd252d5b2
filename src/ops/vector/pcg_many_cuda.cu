// pcg_many_cuda.cu: the vector passes of many vectors.
// Map     as pcg_vectors_cuda.cu, but thread = a number of a row: threads a multiple of KG_VECTORS
//         apart have the same vector, whose scalars they keep.
#include "device/cuda_each.cuh"
#include "ops/vector/cg_passes.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/vector/pcg_many.h"

namespace
{

constexpr int K = KG_VECTORS;

/// Whether the thread's vector goes on; else a thread notes the stop.
__device__ __forceinline__ bool goes_on(kg_cg_state *state, double sum, int32_t not_positive)
{
  if (state->stop != KG_CG_RUNNING) return false;
  const int32_t stop = kg_cg_judge(sum, not_positive);
  if (stop != KG_CG_RUNNING && blockIdx.x == 0 && threadIdx.x < K) state->stop = stop;
  return stop == KG_CG_RUNNING;
}

/// The last block to arrive renews rz: every block has read it by then.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    pcg_direction_many_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  if (a.many->stop) return;
  kg_cg_state *state = a.many->of + threadIdx.x % K;
  const bool runs = goes_on(state, state->rz_next, KG_CG_PRECONDITIONER);
  const double beta = state->rz == 0.0 ? 0.0 : state->rz_next / state->rz;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; runs && i < a.n; i += stride)
    a.p[i] = (a.z_single != nullptr ? a.z_single[i] : a.z[i]) + beta * a.p[i];
  if (kg_last_block(counter) && threadIdx.x < K && runs) state->rz = state->rz_next;
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    pcg_update_many_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  __shared__ double s_sum[THREADS / 32 * K];
  if (a.many->stop) return;
  kg_cg_state *state = a.many->of + threadIdx.x % K;
  const bool runs = goes_on(state, state->p_ap, KG_CG_INDEFINITE);
  const double alpha = state->rz / state->p_ap;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  double rr = 0.0;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; runs && i < a.n; i += stride) {
    const double p = a.p[i];
    const double r = a.r[i] - alpha * closed_row(a.ap[i], a.open, i);
    a.x[i] += alpha * p;
    a.r[i] = r;
    rr += r * r;
  }
  const kg_sum sum = {.part = a.partial, .parts = KG_PIECES};
  __shared__ bool s_runs[K];
  const bool ends = kg_grid_sums<K>(&rr, sum, counter, s_sum);
  if (ends && runs) {
    kg_cg_count(state, rr, state->rz_next);
    state->steps = state->iterations;
  }
  if (ends) s_runs[threadIdx.x] = runs && state->stop == KG_CG_RUNNING;
  __syncthreads();
  if (ends && threadIdx.x == 0) {
    bool any = false;
    for (int v = 0; v < K; ++v) any = any || s_runs[v];
    a.many->stop = !any;
  }
}

/// Thread = a number of vectors side by side.
__global__ void __launch_bounds__(THREADS) interleave_kernel(const kg_interleave_args a)
{
  const int64_t i = kg_thread_number(), row = i / K, apart = i % K * a.n + row;
  if (row >= a.n) return;
  if (a.apart)
    a.to[apart] = a.from[i];
  else
    a.to[i] = a.from[apart];
}

}  // namespace

extern "C" kedge_status kg_pcg_direction_many_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, pcg_direction_many_kernel, "pcg_direction");
}

extern "C" kedge_status kg_pcg_update_many_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, pcg_update_many_kernel, "pcg_update");
}

extern "C" kedge_status kg_interleave_cuda(kedge_context *ctx, const kg_interleave_args *a)
{
  return kg_launch_each<THREADS>(ctx, "interleave", a->n * K, interleave_kernel, *a);
}

// cg_vectors_cuda.cu: the vector passes of conjugate gradients, with their sums.
// Map     a fixed grid strides over the rows; each block leaves one partial sum; the last block to
//         arrive adds them in order, computes the scalars and decides whether to stop. No atomics
//         on numbers: the bits depend on n alone.
#include "backend/cuda_rt.h"
#include "ops/cg_vectors.h"

namespace
{

enum { COUNTER = 1, THREADS = 256 };

struct sums {
  double rr, rz;
};

/// Add rr and rz over the grid; true in thread 0 of the last block, with the totals.
__device__ bool reduce(const kg_cg_vectors_args &a, unsigned *counter, sums *s)
{
  __shared__ double s_warp[THREADS / 32];
  const double rr = kg_block_sum(s->rr, s_warp);
  const double rz = kg_block_sum(s->rz, s_warp);
  if (threadIdx.x == 0) {
    a.partial[blockIdx.x] = rr;
    a.partial[KG_CG_PARTIALS + blockIdx.x] = rz;
  }
  if (!kg_last_block(counter)) return false;
  s->rr = kg_array_sum(a.partial, gridDim.x, s_warp);
  s->rz = kg_array_sum(a.partial + KG_CG_PARTIALS, gridDim.x, s_warp);
  return threadIdx.x == 0;
}

__global__ void __launch_bounds__(THREADS)
    start_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  sums s = {0.0, 0.0};
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride) {
    const double r = a.b[i] - a.ap[i], z = a.inverse[i] * r;
    a.r[i] = r;
    a.p[i] = z;
    s.rr += r * r;
    s.rz += r * z;
  }
  if (!reduce(a, counter, &s)) return;
  a.state->rr = s.rr;
  a.state->rz = s.rz;
}

__global__ void __launch_bounds__(THREADS)
    update_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  kg_cg_state *state = a.state;
  if (state->stop != KG_CG_RUNNING) return;
  const double alpha = state->rz / state->p_ap;
  sums s = {0.0, 0.0};
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride) {
    a.x[i] += alpha * a.p[i];
    const double r = a.r[i] - alpha * a.ap[i];
    a.r[i] = r;
    s.rr += r * r;
    s.rz += r * r * a.inverse[i];
  }
  if (!reduce(a, counter, &s)) return;
  state->rr = s.rr;
  state->rz_next = s.rz;
  ++state->iterations;
  if (!isfinite(s.rr) || !isfinite(s.rz))
    state->stop = KG_CG_NOT_FINITE;
  else if (s.rr <= state->target)
    state->stop = KG_CG_CONVERGED;
  else if (state->iterations >= state->max_iterations)
    state->stop = KG_CG_LIMIT;
}

/// The last block to arrive renews rz: every block has read it by then.
__global__ void __launch_bounds__(THREADS)
    direction_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  kg_cg_state *state = a.state;
  if (state->stop != KG_CG_RUNNING) return;
  const double beta = state->rz_next / state->rz;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride)
    a.p[i] = a.inverse[i] * a.r[i] + beta * a.p[i];
  if (kg_last_block(counter) && threadIdx.x == 0) state->rz = state->rz_next;
}

kedge_status launch(kedge_context *ctx, const kg_cg_vectors_args *a,
                    void (*kernel)(kg_cg_vectors_args, unsigned *), const char *name)
{
  int64_t blocks = (a->n + THREADS - 1) / THREADS;
  if (blocks > KG_CG_PARTIALS) blocks = KG_CG_PARTIALS;
  if (blocks < 1) blocks = 1;  // no rows: the sums are still written
  kernel<<<(unsigned)blocks, THREADS, 0, kg_cuda_stream(ctx)>>>(*a,
                                                                kg_cuda(ctx)->counters + COUNTER);
  return kg_cuda_launched(ctx, name);
}

}  // namespace

extern "C" kedge_status kg_cg_start_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, start_kernel, "cg_start");
}

extern "C" kedge_status kg_cg_update_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, update_kernel, "cg_update");
}

extern "C" kedge_status kg_cg_direction_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, direction_kernel, "cg_direction");
}

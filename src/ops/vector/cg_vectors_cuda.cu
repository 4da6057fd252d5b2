// cg_vectors_cuda.cu: the vector passes of conjugate gradients, with their sums.
// Map     as many blocks as the device holds at once stride over pairs of rows (16 bytes); each
//         block leaves one partial sum; the last block to arrive adds them in order, computes the
//         scalars and decides whether to stop. No atomics on numbers: the bits depend on n and on
//         the number of multiprocessors alone.
// Cost    update reads z, A p, D^-1 and writes z; direction reads z, p, x and writes p, x.
#include "device/cuda_chain.cuh"
#include "ops/vector/cg_passes.cuh"
#include "ops/vector/cg_vectors.h"
#include "ops/vector/grid_sum.cuh"

namespace
{

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
    a.partial[KG_PIECES + blockIdx.x] = rz;
  }
  if (!kg_last_block(counter)) return false;
  s->rr = kg_array_sum(a.partial, gridDim.x, s_warp);
  s->rz = kg_array_sum(a.partial + KG_PIECES, gridDim.x, s_warp);
  return threadIdx.x == 0;
}

__global__ void __launch_bounds__(THREADS)
    cg_begin_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  double rz = 0.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.n; i += stride) {
    const double r = a.r[i], z = a.inverse[i] * r;
    a.z[i] = z;
    a.p[i] = z;
    rz += r * z;
  }
  if (kg_grid_sum(&rz, a.partial, counter, s_warp)) kg_cg_first(a.state, rz);
}

/// The next z of a row, and its part of the sums.
__device__ __forceinline__ double update_row(double z, double ap, double inverse, double alpha,
                                             sums *s)
{
  const double next = z - alpha * (inverse * ap), r = next / inverse;
  s->rr += r * r;
  s->rz += r * next;
  return next;
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    cg_update_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  kg_cg_state *state = a.state;
  if (state->stop != KG_CG_RUNNING || !is_fit(state, state->p_ap, KG_CG_INDEFINITE)) return;
  const double alpha = state->rz / state->p_ap;
  const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  const int64_t stride = (int64_t)gridDim.x * THREADS, pairs = a.n / 2;
  sums s = {0.0, 0.0};
  for (int64_t i = first; i < pairs; i += stride) {
    double2 z = ((const double2 *)a.z)[i], ap = ((const double2 *)a.ap)[i];
    const double2 inverse = ((const double2 *)a.inverse)[i];
    ap.x = closed_row(ap.x, a.open, 2 * i);
    ap.y = closed_row(ap.y, a.open, 2 * i + 1);
    z.x = update_row(z.x, ap.x, inverse.x, alpha, &s);
    z.y = update_row(z.y, ap.y, inverse.y, alpha, &s);
    ((double2 *)a.z)[i] = z;
  }
  if (first == 0 && a.n % 2 != 0) {
    const int64_t i = a.n - 1;
    const double ap = closed_row(a.ap[i], a.open, i);
    a.z[i] = update_row(a.z[i], ap, a.inverse[i], alpha, &s);
  }
  if (!reduce(a, counter, &s)) return;
  kg_cg_keep(a.steps, state);
  kg_cg_count(state, s.rr, s.rz);
}

/// The last block to arrive renews rz: every block has read it by then.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    cg_direction_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  kg_chain_next();  // to the product, which begins with K^e
  kg_cg_state *state = a.state;
  if (state->steps == state->iterations) return;
  const double alpha = state->rz / state->p_ap, beta = state->rz_next / state->rz;
  const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  const int64_t stride = (int64_t)gridDim.x * THREADS, pairs = a.n / 2;
  for (int64_t i = first; i < pairs; i += stride) {
    const double2 z = ((const double2 *)a.z)[i], p = ((const double2 *)a.p)[i];
    const double2 x = ((const double2 *)a.x)[i];
    ((double2 *)a.x)[i] = make_double2(x.x + alpha * p.x, x.y + alpha * p.y);
    ((double2 *)a.p)[i] = make_double2(z.x + beta * p.x, z.y + beta * p.y);
  }
  if (first == 0 && a.n % 2 != 0) {
    const int64_t i = a.n - 1;
    a.x[i] += alpha * a.p[i];
    a.p[i] = a.z[i] + beta * a.p[i];
  }
  if (!kg_last_block(counter) || threadIdx.x != 0) return;
  state->rz = state->rz_next;
  state->steps = state->iterations;
}

}  // namespace

extern "C" kedge_status kg_cg_begin_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, cg_begin_kernel, "cg_begin");
}

extern "C" kedge_status kg_cg_update_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, cg_update_kernel, "cg_update");
}

extern "C" kedge_status kg_cg_direction_cuda(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, cg_direction_kernel, "cg_direction");
}

// pcg_vectors_cuda.cu: the vector passes of conjugate gradients with a preconditioner, with the sum
// r . r.
// Map     as many blocks as the device holds at once stride over rows; each block leaves one
//         partial sum; the last block to arrive adds them in order, computes the scalars and
//         decides whether to stop. No atomics on numbers: the bits depend on n and on the number of
//         multiprocessors alone.
// Cost    direction reads z, p and writes p; update reads x, p, r, A p and writes x, r.
#include "ops/vector/cg_passes.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/vector/pcg_rows.h"

namespace
{

#ifdef KG_COMPILE_SINGLE
using real2 = float2;
#else
using real2 = double2;
#endif

/// Rows 2 i and 2 i + 1 of z.
__device__ __forceinline__ double2 load_z(const kg_cg_vectors_args &a, int64_t i)
{
  if (a.z_single == nullptr) return ((const double2 *)a.z)[i];
  const float2 z = ((const float2 *)a.z_single)[i];
  return make_double2(z.x, z.y);
}

/// The last block to arrive renews rz: every block has read it by then.
__global__ void __launch_bounds__(THREADS, BLOCKS)
    pcg_direction_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  kg_cg_state *state = a.state;
  if (state->stop != KG_CG_RUNNING || !is_fit(state, state->rz_next, KG_CG_PRECONDITIONER)) return;
  const pcg_rows v = pcg_rows_of(&a);
  const double beta = state->rz == 0.0 ? 0.0 : state->rz_next / state->rz;
  const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  const int64_t stride = (int64_t)gridDim.x * THREADS, pairs = a.n / 2;
  for (int64_t i = first; i < pairs; i += stride) {
    const double2 z = load_z(a, i);
    real2 p = ((const real2 *)v.p)[i];
    p.x = (kg_real)(z.x + beta * p.x);
    p.y = (kg_real)(z.y + beta * p.y);
    ((real2 *)v.p)[i] = p;
  }
  if (first == 0 && a.n % 2 != 0) {
    const int64_t i = a.n - 1;
    v.p[i] = (kg_real)((a.z_single != nullptr ? a.z_single[i] : a.z[i]) + beta * v.p[i]);
  }
  if (!kg_last_block(counter) || threadIdx.x != 0) return;
  state->rz = state->rz_next;
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    pcg_update_kernel(const kg_cg_vectors_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32];
  kg_cg_state *state = a.state;
  if (state->stop != KG_CG_RUNNING || !is_fit(state, state->p_ap, KG_CG_INDEFINITE)) return;
  const pcg_rows v = pcg_rows_of(&a);
  const double alpha = state->rz / state->p_ap, step = ldexp(alpha, -pcg_exponent(state));
  const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  const int64_t stride = (int64_t)gridDim.x * THREADS, pairs = a.n / 2;
  double rr = 0.0;
  for (int64_t i = first; i < pairs; i += stride) {
    const real2 p = ((const real2 *)v.p)[i], ap = ((const real2 *)v.ap)[i];
    real2 r = ((const real2 *)v.r)[i];
    double2 x = ((const double2 *)a.x)[i];
    x.x += step * p.x;
    x.y += step * p.y;
    const double even = r.x - alpha * closed_row(ap.x, a.open, 2 * i);
    const double odd = r.y - alpha * closed_row(ap.y, a.open, 2 * i + 1);
    rr += even * even + odd * odd;
    r.x = (kg_real)even;
    r.y = (kg_real)odd;
    ((double2 *)a.x)[i] = x;
    ((real2 *)v.r)[i] = r;
  }
  if (first == 0 && a.n % 2 != 0) {
    const int64_t i = a.n - 1;
    const double r = v.r[i] - alpha * closed_row(v.ap[i], a.open, i);
    a.x[i] += step * v.p[i];
    v.r[i] = (kg_real)r;
    rr += r * r;
  }
  if (!kg_grid_sum(&rr, a.partial, counter, s_warp)) return;
  kg_cg_keep(a.steps, state);
  kg_cg_count(state, ldexp(rr, -2 * pcg_exponent(state)), state->rz_next);
  state->steps = state->iterations;
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_pcg_direction_cuda)(kedge_context *ctx,
                                                       const kg_cg_vectors_args *a)
{
  return launch(ctx, a, pcg_direction_kernel, "pcg_direction");
}

extern "C" kedge_status KG_REAL(kg_pcg_update_cuda)(kedge_context *ctx, const kg_cg_vectors_args *a)
{
  return launch(ctx, a, pcg_update_kernel, "pcg_update");
}

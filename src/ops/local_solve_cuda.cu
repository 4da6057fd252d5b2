// local_solve_cuda.cu: u = Z (f + R lambda), q from u and lambda.
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     block = element, panel = [Z^-1; (f + R lambda)^T] in shared memory (panel_cuda.cuh).
#include "backend/cuda_rt.h"
#include "ops/local_solve.h"
#include "ops/panel_cuda.cuh"

namespace
{

/// lambda of the element's edges, in its own orientation.
__device__ void gather_trace(const kg_local_solve_args &a, kg_place at, double *s_lambda)
{
  const int m = a.batch.reference.size.n_edge;
  for (int c = threadIdx.x; c < 3 * m; c += blockDim.x) {
    const int l = c / m, k = c - l * m;
    const uint32_t side = a.batch.arrays.side_edge[(at.group * 3 + l) * KG_LANES + at.lane];
    s_lambda[c] = kg_side_sign(side, k) * a.trace[(int64_t)(side >> 1) * m + k];
  }
}

/// x_i = f_i + (R lambda)_i.
__device__ void right_hand_side(const kg_local_solve_args &a, kg_place at, const kg_element &e,
                                const double *s_lambda, double *x)
{
  const kg_reference &ref = a.batch.reference;
  const int N = ref.size.n_modes, n = ref.size.n_trace, m = ref.size.n_edge;
  for (int i = threadIdx.x; i < N; i += blockDim.x) {
    double sum = a.load[(at.group * N + i) * KG_LANES + at.lane];
    for (int c = 0; c < n; ++c) {
      const int l = c / m, k = i * n + c;
      sum += s_lambda[c] *
             (e.tau[l] * ref.lift[k] + e.lift_r[l] * ref.lift_r[k] + e.lift_s[l] * ref.lift_s[k]);
    }
    x[i] = sum;
  }
}

__device__ void write_solution(const kg_local_solve_args &a, kg_place at, const kg_element &e,
                               const double *s_lambda, const double *u)
{
  const kg_reference &ref = a.batch.reference;
  const int N = ref.size.n_modes, n = ref.size.n_trace, m = ref.size.n_edge;
  const int64_t g = at.group - a.first_group;
  for (int i = threadIdx.x; i < N; i += blockDim.x) {
    double x = 0.0, y = 0.0, by_r = 0.0, by_s = 0.0;
    for (int c = 0; c < n; ++c) {
      const double f = ref.lift[i * n + c] * s_lambda[c];
      x += e.half_normal[c / m][0] * f;
      y += e.half_normal[c / m][1] * f;
    }
    for (int j = 0; j < N; ++j) {
      by_r += ref.gradient_r[i * N + j] * u[j];
      by_s += ref.gradient_s[i * N + j] * u[j];
    }
    a.u[(g * N + i) * KG_LANES + at.lane] = u[i];
    a.q[(g * 2 * N + i) * KG_LANES + at.lane] =
        x / e.jacobian - e.grad_r[0] * by_r - e.grad_s[0] * by_s;
    a.q[(g * 2 * N + N + i) * KG_LANES + at.lane] =
        y / e.jacobian - e.grad_r[1] * by_r - e.grad_s[1] * by_s;
  }
}

__global__ void local_solve_kernel(const kg_local_solve_args a)
{
  extern __shared__ double2 s_memory[];
  __shared__ kg_element e;
  __shared__ double s_lambda[3 * (KEDGE_ORDER_MAX + 1)];
  const int N = a.batch.reference.size.n_modes;
  const int np = kg_panel_padded(N), ld = kg_panel_ld(N);
  double *panel = (double *)s_memory, *x = panel + np * ld, *s_inverse = x + ld;
  const kg_place at = {a.first_group + (int64_t)(blockIdx.x / KG_LANES),
                       (int)(blockIdx.x % KG_LANES)};
  gather_trace(a, at, s_lambda);
  kg_block_element(a.batch, at, a.material, &e);
  kg_panel_local_operator(panel, ld, a.batch.reference, e);
  right_hand_side(a, at, e, s_lambda, x);
  kg_panel_pad(panel, np + 1, N, np, ld);
  kg_panel_factor(panel, np + 1, np, ld, s_inverse);
  kg_panel_backward(panel, np, ld, s_inverse, x);
  __syncthreads();
  write_solution(a, at, e, s_lambda, x);
}

}  // namespace

extern "C" kedge_status kg_local_solve_cuda(kedge_context *ctx, const kg_local_solve_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  const int N = a->batch.reference.size.n_modes, np = kg_panel_padded(N);
  const size_t shared = sizeof(double) * ((size_t)(np + 1) * kg_panel_ld(N) + np);
  KG_TRY(
      kg_cuda_check(ctx,
                    cudaFuncSetAttribute(local_solve_kernel,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                    "local_solve: asking for shared memory"));
  local_solve_kernel<<<(unsigned)a->n_groups * KG_LANES, kg_panel_threads(np + 1), shared,
                       kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "local_solve");
}

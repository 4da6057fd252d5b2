// local_solve_thread.cuh: u and q at low orders, where an element fits a thread.
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     thread = element, warp = group. Reference matrices are the same for all lanes: one word
//         a load.
// Cost    kg_local_solve_cost()
#pragma once
#include "backend/cuda_rt.h"
#include "ops/local_operator.cuh"
#include "ops/local_solve.h"
#include "ops/mode_parity.cuh"
#include "ops/thread_matrix.cuh"

namespace kg
{

enum { RECOVER_THREADS = 128 };

template <int P>
struct trace_lift {
  static constexpr int N = (P + 1) * (P + 2) / 2;
  double tau[N];      ///< sum_l tau[l] F_l lambda_l
  double flux[2][N];  ///< F~_x lambda / J and F~_y lambda / J
};

template <int P>
__device__ __forceinline__ void lift_trace(const kg_local_solve_args &a, int64_t group, int lane,
                                           const kg_element &e, trace_lift<P> &out)
{
  constexpr int N = trace_lift<P>::N, m = P + 1;
#pragma unroll
  for (int i = 0; i < N; ++i) out.tau[i] = out.flux[0][i] = out.flux[1][i] = 0.0;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
    const double *modes = a.trace + (int64_t)(side >> 1) * m;
#pragma unroll
    for (int k = 0; k < m; ++k) {
      const double lambda = kg_side_sign(side, k) * modes[k];
      const double by_tau = e.tau[l] * lambda;
      const double by_x = e.half_normal[l][0] / e.jacobian * lambda;
      const double by_y = e.half_normal[l][1] / e.jacobian * lambda;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const double f = __ldg(a.batch.reference.lift + i * 3 * m + l * m + k);
        out.tau[i] += f * by_tau;
        out.flux[0][i] += f * by_x;
        out.flux[1][i] += f * by_y;
      }
    }
  }
}

/// b = f + sum_l tau F lambda + diffusion J (Dr p_r + Ds p_s), p_r = grad r . (F~ lambda) / J.
template <int P>
__device__ __forceinline__ void condensed_right(const kg_local_solve_args &a, int64_t group,
                                                int lane, const kg_element &e,
                                                const trace_lift<P> &lifted,
                                                double (&b)[trace_lift<P>::N])
{
  constexpr int N = trace_lift<P>::N;
  const kg_reference &ref = a.batch.reference;
  const double kj = a.material.diffusion * e.jacobian;
#pragma unroll
  for (int i = 0; i < N; ++i) b[i] = a.load[(group * N + i) * KG_LANES + lane] + lifted.tau[i];
#pragma unroll
  for (int j = 1; j < N; ++j) {
    const double x = kj * lifted.flux[0][j], y = kj * lifted.flux[1][j];
    const double along_r = e.grad_r[0] * x + e.grad_r[1] * y;
    const double along_s = e.grad_s[0] * x + e.grad_s[1] * y;
#pragma unroll
    for (int i = 0; i < j; ++i)  // Dr changes the parity, and so does half of it that is in Ds
      b[i] += same_parity(i, j) ? __ldg(ref.gradient_s + j * N + i) * along_s
                                : __ldg(ref.gradient_r + j * N + i) * (along_r + 0.5 * along_s);
  }
}

/// Z^-1, packed.
template <int N>
__device__ __forceinline__ void build_in_registers(const kg_reference &ref,
                                                   const local_operator &op,
                                                   double (&a)[N * (N + 1) / 2])
{
#pragma unroll
  for (int i = 0, k = 0; i < N; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j, ++k) {
      double r[local_operator::TERMS];
      local_operator::read(ref, k, r);
      a[k] = same_parity(i, j) ? op.combine(r, true) : op.combine_other(r);
      if (i == j) a[k] += op.diagonal;
    }
}

template <int P>
__global__ void __launch_bounds__(RECOVER_THREADS) local_solve_thread(const kg_local_solve_args a)
{
  constexpr int N = trace_lift<P>::N;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = ((int64_t)blockIdx.x * RECOVER_THREADS + threadIdx.x) / KG_LANES;
  if (g >= a.n_groups) return;
  const int64_t group = a.first_group + g;
  const kg_reference &ref = a.batch.reference;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const kg_element e = kg_element_of(x, y, a.material);

  trace_lift<P> lifted;
  double u[N];
  lift_trace<P>(a, group, lane, e, lifted);
  condensed_right<P>(a, group, lane, e, lifted, u);

  double l[N * (N + 1) / 2];
  build_in_registers<N>(ref, local_operator(e), l);
  factor_in_registers<N>(l);
  solve_in_registers<N>(l, u);
  solve_transposed_in_registers<N>(l, u);

  double *q = a.q + g * 2 * N * KG_LANES + lane;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    double by_r = 0.0, by_s = 0.0;
#pragma unroll
    for (int j = 0; j < i; ++j)
      if (same_parity(i, j))
        by_s += __ldg(ref.gradient_s + i * N + j) * u[j];
      else
        by_r += __ldg(ref.gradient_r + i * N + j) * u[j];
    by_s += 0.5 * by_r;
    a.u[(g * N + i) * KG_LANES + lane] = u[i];
    q[i * KG_LANES] = lifted.flux[0][i] - e.grad_r[0] * by_r - e.grad_s[0] * by_s;
    q[(N + i) * KG_LANES] = lifted.flux[1][i] - e.grad_r[1] * by_r - e.grad_s[1] * by_s;
  }
}

template <int P>
kedge_status launch_recover_thread(kedge_context *ctx, const kg_local_solve_args &a)
{
  const unsigned groups = RECOVER_THREADS / KG_LANES;
  local_solve_thread<P>
      <<<((unsigned)a.n_groups + groups - 1) / groups, RECOVER_THREADS, 0, kg_cuda_stream(ctx)>>>(
          a);
  return kg_cuda_launched(ctx, "local_solve");
}

}  // namespace kg

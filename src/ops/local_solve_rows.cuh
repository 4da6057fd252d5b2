// local_solve_rows.cuh: u and q at higher orders, in three kernels: what the trace gives, a solve
// (element_solve.cuh), what u gives to q.
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     block = group, lane = element, warp = ROWS rows of its vectors, so that what was read of a
//         vector serves ROWS sums. Entries of reference matrices are the same for all lanes.
// Cost    kg_local_solve_cost(); u and q move twice more than it says.
#pragma once
#include "ops/element_solve.cuh"
#include "ops/local_solve.h"

namespace kg
{

/// Z^-1. The reference triangle is symmetric about its base, which leaves four of the six reference
/// matrices: for modes of the same parity S_rs = S_rr and E_2 = E_1, otherwise S_rr = 0 and
/// E_2 = -E_1.
struct local_operator {
  static constexpr int TERMS = 4;
  double same_rs, other_rs, ss, base, same_edge, other_edge, diagonal;

  local_operator() = default;
  explicit __device__ __forceinline__ local_operator(const kg_element &e)
      : same_rs(e.stiffness[0] + e.stiffness[1]),
        other_rs(e.stiffness[1]),
        ss(e.stiffness[2]),
        base(e.tau[0]),
        same_edge(e.tau[1] + e.tau[2]),
        other_edge(e.tau[1] - e.tau[2]),
        diagonal(e.mass)
  {
  }
  static __device__ __forceinline__ void read(const kg_reference &ref, int k, double (&r)[TERMS])
  {
    r[0] = __ldg(ref.stiffness[1] + k);
    r[1] = __ldg(ref.stiffness[2] + k);
    r[2] = __ldg(ref.edge_mass[0] + k);
    r[3] = __ldg(ref.edge_mass[1] + k);
  }
  __device__ __forceinline__ double combine(const double (&r)[TERMS], bool same) const
  {
    return (same ? same_rs : other_rs) * r[0] + ss * r[1] + base * r[2] +
           (same ? same_edge : other_edge) * r[3];
  }
};

/// The largest number of rows that divides n and that the sums of a thread can be.
constexpr int rows_of(int n)
{
  return n % 7 == 0 ? 7 : n % 6 == 0 ? 6 : 5;
}

/// Degree of mode i.
__device__ __forceinline__ int degree_of(int i)
{
  int d = 0;
  while ((d + 1) * (d + 2) / 2 <= i) ++d;
  return d;
}

template <int P>
struct row_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int ROWS = rows_of(N), WARPS = N / ROWS;
  static_assert(N % ROWS == 0, "every warp has as many rows");
};

/// lambda of the element's sides, in its own orientation, to s_lambda [n][lane].
template <class shape>
__device__ __forceinline__ void gather_trace(const kg_local_solve_args &a, int64_t group,
                                             double *s_lambda)
{
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
    const double *modes = a.trace + (int64_t)(side >> 1) * shape::m;
    for (int k = warp; k < shape::m; k += shape::WARPS)
      s_lambda[(l * shape::m + k) * KG_LANES] = kg_side_sign(side, k) * modes[k];
  }
}

/// Rows of a warp: by_tau = sum_l tau[l] F_l lambda_l, flux = F~_k lambda / J.
template <class shape>
__device__ __forceinline__ void lift_rows(const kg_reference &ref, const kg_element &e,
                                          const double *s_lambda, int first,
                                          double (&by_tau)[shape::ROWS],
                                          double (&flux)[2][shape::ROWS])
{
  const double *row = ref.lift + first * shape::n;
#pragma unroll
  for (int r = 0; r < shape::ROWS; ++r) by_tau[r] = flux[0][r] = flux[1][r] = 0.0;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const double x = e.half_normal[l][0] / e.jacobian, y = e.half_normal[l][1] / e.jacobian;
#pragma unroll 2
    for (int c = l * shape::m; c < (l + 1) * shape::m; ++c) {
      const double lambda = s_lambda[c * KG_LANES];
      const double t = e.tau[l] * lambda, along_x = x * lambda, along_y = y * lambda;
#pragma unroll
      for (int r = 0; r < shape::ROWS; ++r) {
        const double f = __ldg(row + r * shape::n + c);
        by_tau[r] += f * t;
        flux[0][r] += f * along_x;
        flux[1][r] += f * along_y;
      }
    }
  }
}

/// u = f + R lambda = f + sum_l tau F lambda + diffusion J (Dr p_r + Ds p_s) with p_r = grad r .
/// flux, and q = flux = F~ lambda / J.
template <int P>
__global__ void __launch_bounds__(KG_LANES *row_shape<P>::WARPS)
    local_solve_trace(const kg_local_solve_args a)
{
  using shape = row_shape<P>;
  constexpr int N = shape::N, ROWS = shape::ROWS;
  __shared__ double s_memory[2 * N * KG_LANES];  // the trace, then p [2 N][lane]
  const int lane = threadIdx.x % KG_LANES, first = (int)threadIdx.x / KG_LANES * ROWS;
  const int64_t g = blockIdx.x, group = a.first_group + g;
  const kg_reference &ref = a.batch.reference;
  double *s_p = s_memory + lane;
  gather_trace<shape>(a, group, s_p);
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const kg_element e = kg_element_of(x, y, a.material);
  double right[ROWS], flux[2][ROWS];
  __syncthreads();
  lift_rows<shape>(ref, e, s_p, first, right, flux);
  __syncthreads();
  const double kj = a.material.diffusion * e.jacobian;
  double *q = a.q + (g * 2 * N + first) * KG_LANES + lane;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const double fx = flux[0][r], fy = flux[1][r];
    q[r * KG_LANES] = fx;
    q[(N + r) * KG_LANES] = fy;
    s_p[(first + r) * KG_LANES] = kj * (e.grad_r[0] * fx + e.grad_r[1] * fy);
    s_p[(N + first + r) * KG_LANES] = kj * (e.grad_s[0] * fx + e.grad_s[1] * fy);
    right[r] += a.load[(group * N + first + r) * KG_LANES + lane];
  }
  __syncthreads();
  const int degree = degree_of(first);  // Dr_ij is 0 unless the degree of j is higher
#pragma unroll 2
  for (int j = (degree + 1) * (degree + 2) / 2; j < N; ++j) {
    const double along_r = s_p[j * KG_LANES], along_s = s_p[(N + j) * KG_LANES];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      right[r] += __ldg(ref.gradient_r + j * N + first + r) * along_r +
                  __ldg(ref.gradient_s + j * N + first + r) * along_s;
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) a.u[(g * N + first + r) * KG_LANES + lane] = right[r];
}

/// q -= grad r Dr^T u + grad s Ds^T u.
template <int P>
__global__ void __launch_bounds__(KG_LANES *row_shape<P>::WARPS)
    local_solve_flux(const kg_local_solve_args a)
{
  using shape = row_shape<P>;
  constexpr int N = shape::N, ROWS = shape::ROWS;
  const int lane = threadIdx.x % KG_LANES, first = (int)threadIdx.x / KG_LANES * ROWS;
  const int64_t g = blockIdx.x;
  const double *row_r = a.batch.reference.gradient_r + first * N;
  const double *row_s = a.batch.reference.gradient_s + first * N;
  const double *u = a.u + g * N * KG_LANES + lane;
  const int degree = degree_of(first + ROWS - 1);
  double by_r[ROWS] = {}, by_s[ROWS] = {};
#pragma unroll 2
  for (int j = 0; j < degree * (degree + 1) / 2; ++j) {
    const double value = u[j * KG_LANES];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      by_r[r] += __ldg(row_r + r * N + j) * value;
      by_s[r] += __ldg(row_s + r * N + j) * value;
    }
  }
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, a.first_group + g, lane, x, y);
  const kg_element e = kg_element_of(x, y, a.material);
  double *q = a.q + (g * 2 * N + first) * KG_LANES + lane;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    q[r * KG_LANES] -= e.grad_r[0] * by_r[r] + e.grad_s[0] * by_s[r];
    q[(N + r) * KG_LANES] -= e.grad_r[1] * by_r[r] + e.grad_s[1] * by_s[r];
  }
}

template <int P>
kedge_status launch_recover_rows(kedge_context *ctx, const kg_local_solve_args &a)
{
  using shape = row_shape<P>;
  const unsigned blocks = (unsigned)a.n_groups, threads = KG_LANES * shape::WARPS;
  local_solve_trace<P><<<blocks, threads, 0, kg_cuda_stream(ctx)>>>(a);
  KG_TRY(kg_cuda_launched(ctx, "local_solve: trace"));
  const element_solve_args solve = {a.batch, a.material, a.first_group, a.n_groups, a.u, shape::N};
  KG_TRY((element_solve<local_operator, shape::N>(ctx, solve, "local_solve: solve")));
  local_solve_flux<P><<<blocks, threads, 0, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "local_solve: flux");
}

}  // namespace kg

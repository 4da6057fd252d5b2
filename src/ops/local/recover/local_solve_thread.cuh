// local_solve_thread.cuh: u and q at low orders, where an element fits a thread.
//
// With v = grad r + grad s / 2, w = grad s, and the derivatives along the base and across it, Dr
// and D = Ds - Dr / 2, q combines two vectors that know the element only by its trace and u:
//
//   q_k = v_k (p - Dr^T u) + w_k (t - D^T u),   p = F_1 lambda_1 - F_2 lambda_2,
//                                             t = (F_1 lambda_1 + F_2 lambda_2) / 2 - F_0 lambda_0
//   f + R lambda = f + sum_l tau_l F_l lambda_l + kappa J (Dr (v.v p + v.w t) + D (v.w p + w.w t))
//
// (v . kappa v and so on where kappa is a tensor), because the outward normals times length are -2
// J w, 2 J (v + w / 2) and -2 J (v - w / 2).
//
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     thread = element, warp = group. Reference matrices are operands of the arithmetic
//         (local_solve_table.cuh).
// Cost    kg_local_solve_cost()
#pragma once
#include "device/cuda_each.cuh"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/triangle/local_solve_top.cuh"
#include "ops/local/triangle/thread_matrix.cuh"

namespace kg
{

enum { RECOVER_THREADS = 128 };

/// Blocks a multiprocessor is to hold: what an H200 was fastest with; order 1, an H100.
constexpr int recover_blocks(int order)
{
  return order == 1 ? 6 : order == 2 ? 5 : order <= 4 ? 3 : 2;
}
/// Whether the trace is lifted again after the solve, rather than kept in registers during it.
template <int P>
constexpr bool LIFTS_AGAIN = P >= 4;

/// The trace of an element, in its own orientation.
template <int m>
__device__ __forceinline__ void read_trace(const kg_local_solve_args &a, int64_t group, int lane,
                                           double (&lambda)[3][m])
{
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
    const double *modes = a.trace + (int64_t)(side >> 1) * m;
#pragma unroll
    for (int k = 0; k < m; ++k) lambda[l][k] = kg_side_sign(side, k) * modes[k];
  }
}

/// F_l lambda_l of the three edges in one mode.
struct lifted_mode {
  double of_edge[3];

  template <int P>
  __device__ __forceinline__ lifted_mode(const local_solve_table<P> &table,
                                         const double (&lambda)[3][P + 1], int i)
  {
    const int degree = mode_degree(i), along = mode_along(i);
    const double base = table.top.root[degree] * lambda[0][along];
    of_edge[0] = (degree - along) % 2 ? -base : base;
    of_edge[1] = of_edge[2] = 0.0;
#pragma unroll
    for (int k = 0; k <= degree; ++k) {
      const double f = table.lift[table.lift_at(i) + k];
      of_edge[1] += f * lambda[1][k];
      of_edge[2] += ((along + k) % 2 ? -f : f) * lambda[2][k];
    }
  }
  __device__ __forceinline__ double p() const
  {
    return of_edge[1] - of_edge[2];
  }
  __device__ __forceinline__ double t() const
  {
    return 0.5 * (of_edge[1] + of_edge[2]) - of_edge[0];
  }
};

/// Factors of one element in its local solve.
struct recover_element {
  double v[2], w[2];  ///< grad r + grad s / 2, grad s
  double vv, vw, ww;  ///< J v . kappa v, J v . kappa w, J w . kappa w
  top_modes top;

  __device__ __forceinline__ recover_element(const kg_element &e, double diffusion, int m)
      : top(e, m)
  {
    const double kj = diffusion * e.jacobian;
    double along[2], across[2];  // C^T v, C^T w
    for (int k = 0; k < 2; ++k) {
      w[k] = e.grad_s[k];
      v[k] = e.grad_r[k] + 0.5 * w[k];
      across[k] = e.turned_s[k];
      along[k] = e.turned_r[k] + 0.5 * across[k];
    }
    vv = kj * (along[0] * along[0] + along[1] * along[1]);
    vw = kj * (along[0] * across[0] + along[1] * across[1]);
    ww = kj * (across[0] * across[0] + across[1] * across[1]);
  }
};

/// Z^-1 of the K modes less what the others contribute, packed.
template <int P>
__device__ __forceinline__ void build_in_registers(const local_solve_table<P> &table,
                                                   const recover_element &e,
                                                   double (&a)[local_solve_table<P>::PACKED])
{
  using shape = local_solve_table<P>;
  const double base = e.top.rest(0), first = e.top.rest(1), second = e.top.rest(2);
  const double sum = first + second, difference = first - second, sides = e.top.of_sides();
  const double pair = e.top.with_base(e.top.tau[1] + e.top.tau[2]);
  const double pair_difference = e.top.with_base(e.top.tau[1] - e.top.tau[2]);
#pragma unroll
  for (int i = 0, k = 0, s = 0; i < shape::K; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j, ++k) {
      const int degree = mode_degree(i), other = mode_degree(j);
      const bool same = alike(i, j);
      a[k] = i == j ? e.top.mass + (degree + 1) * (base + sum) : 0.0;
      if (other < degree) a[k] += (same ? sum : difference) * table.edge_mass[k];
      if (other < degree && mode_along(i) == mode_along(j)) {
        const double of_base = base * table.top.root[other] * table.top.root[degree];
        a[k] += (degree - other) % 2 ? -of_base : of_base;
      }
      a[k] += (same ? e.vv : e.vw) * table.stiffness[s];
      a[k] += (same ? pair : pair_difference) * table.eliminated[s++];
      if (!same) continue;
      a[k] += e.ww * table.stiffness[s];
      a[k] += sides * table.eliminated[s++];
    }
}

/// The value, but not before `result` is known: nothing is made of it ahead and kept in registers.
__device__ __forceinline__ double after(double result, double value)
{
  return fma(result, 0.0, value);
}

/// u = Z u: modes of degree P first.
template <int P>
__device__ __forceinline__ void solve_thread_element(const local_solve_table<P> &table,
                                                     recover_element e,
                                                     double (&u)[local_solve_table<P>::N])
{
  constexpr int K = local_solve_table<P>::K;
  double l[local_solve_table<P>::PACKED], x[K];
#pragma unroll
  for (int j = 0; j < K; ++j) x[j] = u[j];
#pragma unroll
  for (int top = 0; top <= P; ++top) {
    u[K + top] *= e.top.per_c;
#pragma unroll
    for (int j = 0; j < K; ++j) x[j] -= top_entry<P>(table.top, e.top, top, j) * u[K + top];
  }
  e.vv = after(x[0], e.vv);
  e.vw = after(x[0], e.vw);
  e.ww = after(x[0], e.ww);
  build_in_registers<P>(table, e, l);
  factor_in_registers<K>(l);
  solve_in_registers<K>(l, x);
  solve_transposed_in_registers<K>(l, x);
#pragma unroll
  for (int j = 0; j < K; ++j) u[j] = x[j];
#pragma unroll
  for (int l = 0; l < 3; ++l) e.top.tau[l] = after(x[0], e.top.tau[l]);
#pragma unroll
  for (int top = 0; top <= P; ++top) {
    double sum = 0.0;
#pragma unroll
    for (int j = 0; j < K; ++j) sum += top_entry<P>(table.top, e.top, top, j) * x[j];
    u[K + top] -= e.top.per_c * sum;
  }
}

/// f + R lambda in u, and p and t.
template <int P>
__device__ __forceinline__ void lift_trace(const local_solve_table<P> &table,
                                           const recover_element &e,
                                           const double (&lambda)[3][P + 1],
                                           double (&u)[local_solve_table<P>::N],
                                           double (&p)[local_solve_table<P>::N],
                                           double (&t)[local_solve_table<P>::N])
{
  using shape = local_solve_table<P>;
#pragma unroll
  for (int i = 0; i < shape::N; ++i) {
    const lifted_mode lifted(table, lambda, i);
#pragma unroll
    for (int l = 0; l < 3; ++l) u[i] += e.top.tau[l] * lifted.of_edge[l];
    p[i] = lifted.p();
    t[i] = lifted.t();
  }
#pragma unroll
  for (int i = 1, k = 0; i < shape::N; ++i) {
    const double along = e.vv * p[i] + e.vw * t[i], across = e.vw * p[i] + e.ww * t[i];
#pragma unroll
    for (int j = 0; j < i; ++j)
      if (shape::has_derivative(i, j))
        u[j] += table.derivative[k++] * (alike(i, j) ? across : along);
  }
}

template <int P>
__global__ void __launch_bounds__(RECOVER_THREADS, recover_blocks(P))
    local_solve_thread(const kg_local_solve_args a,
                       const __grid_constant__ local_solve_table<P> table)
{
  using shape = local_solve_table<P>;
  constexpr int N = shape::N, m = P + 1;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = ((int64_t)blockIdx.x * RECOVER_THREADS + threadIdx.x) / KG_LANES;
  if (g >= a.n_groups) return;
  const int64_t group = a.first_group + g;
  double lambda[3][m], u[N], p[N], t[N];
  read_trace<m>(a, group, lane, lambda);
#pragma unroll
  for (int i = 0; i < N; ++i) u[i] = a.load[(group * N + i) * KG_LANES + lane];
  const recover_element e(kg_element_at(&a.batch.arrays, group, lane, &a.materials),
                          kg_material_at(&a.materials, group, lane).diffusion, m);
  lift_trace<P>(table, e, lambda, u, p, t);
  solve_thread_element<P>(table, e, u);
  if (!a.q) {
#pragma unroll
    for (int i = 0; i < N; ++i) a.u[(g * N + i) * KG_LANES + lane] = u[i];
    return;
  }
  if constexpr (LIFTS_AGAIN<P>) {
    asm volatile("" ::: "memory");  // the trace is read again
    read_trace<m>(a, group, lane, lambda);
  }

  double *q = a.q + g * 2 * N * KG_LANES + lane;
#pragma unroll
  for (int i = 0, k = 0; i < N; ++i) {
    if constexpr (LIFTS_AGAIN<P>) {
      const lifted_mode lifted(table, lambda, i);
      p[i] = lifted.p();
      t[i] = lifted.t();
    }
#pragma unroll
    for (int j = 0; j < i; ++j)
      if (shape::has_derivative(i, j)) (alike(i, j) ? t[i] : p[i]) -= table.derivative[k++] * u[j];
    a.u[(g * N + i) * KG_LANES + lane] = u[i];
    q[i * KG_LANES] = e.v[0] * p[i] + e.w[0] * t[i];
    q[(N + i) * KG_LANES] = e.v[1] * p[i] + e.w[1] * t[i];
  }
}

}  // namespace kg

// local_matrices_thread.cuh: K^e and F^e at low orders, where an element fits the registers of a
// thread: modes of degree P are eliminated by hand (docs/math.md#by-hand), 1 or 3 modes are left.
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane]: a warp
//         writes 256 bytes an entry.
// Map     thread = element, warp = group. Reference matrices are a parameter of the kernel,
//         operands of the arithmetic that no load has to bring.
// Cost    kg_local_matrices_cost()
#pragma once
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/local_operator.cuh"
#include "ops/local/triangle/thread_matrix.cuh"

namespace kg
{

/// The reference matrices, of modes of degree below P but for `lift`.
template <int P>
struct thread_table {
  static constexpr int N = (P + 1) * (P + 2) / 2, K = P * (P + 1) / 2, PACKED = K * (K + 1) / 2;
  static constexpr int m = P + 1, n = 3 * m, TRACE = n * (n + 1) / 2;
  double terms[PACKED][condensed_operator<P>::TERMS];  ///< of Z^-1, in the order of combine()
  double lift[N * n], lift_r[K * n], lift_s[K * n], next[K * n], before[K * n];
  double trace_mass[TRACE], trace_top[TRACE];

  explicit thread_table(const kg_reference &ref)
  {
    for (int k = 0; k < PACKED; ++k) {
      const double of[] = {ref.stiffness[1][k], ref.edge_mass[1][k], ref.eliminated[0][k],
                           ref.stiffness[2][k], ref.edge_mass[0][k], ref.eliminated[1][k]};
      for (int t = 0; t < condensed_operator<P>::TERMS; ++t) terms[k][t] = of[t];
    }
    for (int k = 0; k < N * n; ++k) lift[k] = ref.lift[k];
    for (int k = 0; k < K * n; ++k) {
      lift_r[k] = ref.lift_r[k];
      lift_s[k] = ref.lift_s[k];
      next[k] = ref.eliminated_lift[0][k];
      before[k] = ref.eliminated_lift[1][k];
    }
    for (int k = 0; k < TRACE; ++k) {
      trace_mass[k] = ref.trace_mass[k];
      trace_top[k] = ref.trace_top[k];
    }
  }
};

/// Factors that one element contributes to its local matrices.
struct thread_element {
  kg_element e;
  top_modes top;
  double pair[3];  ///< of edges l and k, in place l + k - 1: -tau_l tau_k / c

  __device__ __forceinline__ thread_element(const kg_element &e_, int m) : e(e_), top(e_, m)
  {
    pair[0] = -e.tau[0] * e.tau[1] * top.per_c;
    pair[1] = -e.tau[0] * e.tau[2] * top.per_c;
    pair[2] = -e.tau[1] * e.tau[2] * top.per_c;
  }
};

/// L of what is left of Z^-1.
template <int P>
__device__ __forceinline__ void factor_operator(const thread_table<P> &table, const kg_element &e,
                                                double (&l)[thread_table<P>::PACKED])
{
  const condensed_operator<P> op(e);
#pragma unroll
  for (int i = 0, k = 0; i < thread_table<P>::K; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j, ++k) l[k] = op.combine(table.terms[k], alike(i, j));
    l[k - 1] += op.diagonal;
  }
  factor_in_registers<thread_table<P>::K>(l);
}

/// x = L^-1 of f^e without the modes of degree P, and what these add to F^e, but for its sign.
template <int P>
__device__ __forceinline__ void solve_load(const thread_table<P> &table, const thread_element &el,
                                           const double (&l)[thread_table<P>::PACKED],
                                           const double *load, double (&x)[thread_table<P>::K],
                                           double (&edge)[thread_table<P>::n])
{
  constexpr int K = thread_table<P>::K, n = thread_table<P>::n, m = thread_table<P>::m;
#pragma unroll
  for (int i = 0; i < K; ++i) x[i] = load[i * KG_LANES];
#pragma unroll
  for (int c = 0; c < n; ++c) {
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < m; ++i) sum += table.lift[(K + i) * n + c] * load[(K + i) * KG_LANES];
    edge[c] = el.e.tau[c / m] * el.top.per_c * sum;
#pragma unroll
    for (int i = 0; i < K; ++i) x[i] -= table.lift[i * n + c] * edge[c];
  }
  solve_in_registers<K>(l, x);
}

/// Column c of W, but for the sign of a reversed side.
template <int P>
__device__ __forceinline__ void solve_column(const thread_table<P> &table, const thread_element &el,
                                             const double (&l)[thread_table<P>::PACKED], int c,
                                             double (&w)[thread_table<P>::K])
{
  constexpr int K = thread_table<P>::K, n = thread_table<P>::n;
  const int edge = c / (P + 1);
  const double next = el.pair[edge + (edge + 1) % 3 - 1];
  const double before = el.pair[edge + (edge + 2) % 3 - 1];
#pragma unroll
  for (int i = 0; i < K; ++i) {
    const int at = i * n + c;
    w[i] = el.top.rest(edge) * table.lift[at] + el.e.lift_r[edge] * table.lift_r[at] +
           el.e.lift_s[edge] * table.lift_s[at] + next * table.next[at] + before * table.before[at];
  }
  solve_in_registers<K>(l, w);
}

/// Write what is known of reduced K^e and of F^e without W: fluxes, and F^e in mode 0.
template <int P>
__device__ __forceinline__ void put_known(const thread_table<P> &table, const kg_element &e,
                                          const double *load, const double (&first)[3], bool exists,
                                          double *local, double *condensed)
{
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    condensed[l * (P + 1) * KG_LANES] = kg_reduced_mean(table.lift, P + 1, l, load, first);
    local[l * KG_LANES] = exists ? e.trace[kg_reduced_trace(l)] : 0.0;
  }
}

enum { THREAD_BLOCK = 128 };

/// Blocks a multiprocessor is to hold: what an H200 was fastest with.
constexpr int thread_blocks(int order, bool reduced)
{
  return order == 1 ? 6 : reduced ? 5 : 4;
}

/// REDUCED: K^e are made reduced, without mode 0 of the edges.
template <int P, bool REDUCED>
__global__ void __launch_bounds__(THREAD_BLOCK, thread_blocks(P, REDUCED))
    local_matrices_thread(const kg_local_matrices_args a,
                          const __grid_constant__ thread_table<P> table)
{
  using shape = thread_table<P>;
  constexpr int N = shape::N, K = shape::K, n = shape::n, m = shape::m;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t group = ((int64_t)blockIdx.x * THREAD_BLOCK + threadIdx.x) / KG_LANES;
  if (group >= a.batch.count.n_groups) return;
  double sign[3];  // of mode 1
#pragma unroll
  for (int l = 0; l < 3; ++l)
    sign[l] = kg_side_sign(a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane], 1);
  const thread_element el(kg_element_at(&a.batch.arrays, group, lane, &a.materials), m);
  const double *load = a.load + group * N * KG_LANES + lane;
  double l[shape::PACKED], f[K], top[n], w[n][K], first[3];
  factor_operator<P>(table, el.e, l);
  solve_load<P>(table, el, l, load, f, top);

  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  double *local = (double *)a.local.data + group * a.local.rows * KG_LANES + lane;
  double *condensed = a.condensed + group * n * KG_LANES + lane;
#pragma unroll
  for (int row = 0; row < n; ++row) {
    const int edge = row / m, mode = row % m;
    if (REDUCED && mode == 0) continue;
    solve_column<P>(table, el, l, row, w[row]);
    double product = top[row];
#pragma unroll
    for (int i = 0; i < K; ++i) product += w[row][i] * f[i];
    if (mode == 1) first[edge] = product;
    condensed[row * KG_LANES] = mode % 2 ? sign[edge] * product : product;
#pragma unroll
    for (int col = 0; col <= row; ++col) {
      const int k = col / m, other = col % m, entry = kg_packed_entry(row, col);
      if (REDUCED && other == 0) continue;
      double value = el.e.trace[kg_packed_entry(edge, k)] * table.trace_mass[entry];
      if (edge != k) value += el.pair[edge + k - 1] * table.trace_top[entry];
      if (row == col) value += el.top.rest(edge);
#pragma unroll
      for (int i = 0; i < K; ++i) value -= w[row][i] * w[col][i];
      if (mode % 2 != 0 && (row != col || (REDUCED && mode == 1))) value *= sign[edge];
      if (other % 2 != 0 && row != col) value *= sign[k];
      const int to = REDUCED ? kg_reduced_row(m, row, col) : entry;
      __stcs(local + to * KG_LANES, exists ? value : 0.0);
    }
  }
  if (REDUCED) put_known<P>(table, el.e, load, first, exists, local, condensed);
}

template <int P, bool REDUCED>
kedge_status launch_thread(kedge_context *ctx, const kg_local_matrices_args &a)
{
  return launch_elements<P, THREAD_BLOCK>(ctx, "local_matrices", a.batch.count.n_groups,
                                          local_matrices_thread<P, REDUCED>, a);
}

}  // namespace kg

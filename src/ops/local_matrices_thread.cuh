// local_matrices_thread.cuh: K^e and F^e at low orders, where an element fits a thread: Z^-1 in its
// registers, W in its column of shared memory.
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane]: a warp writes
//         256 bytes an entry.
// Map     thread = element, warp = group. Reference matrices are the same for all lanes: one word
//         a load.
// Cost    kg_local_matrices_cost()
#pragma once
#include "backend/cuda_rt.h"
#include "ops/local_matrices.h"
#include "ops/thread_matrix.cuh"

namespace kg
{

/// REDUCED: K^e are made reduced, without mode 0 of the edges.
template <int P, bool REDUCED>
struct thread_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int FIRST = REDUCED ? 1 : 0, MODES = m - FIRST;  ///< of an edge, in W
  static constexpr int threads = 128;
  static constexpr size_t shared = sizeof(double) * N * 3 * MODES * threads;
};

/// What of reduced K^e and of F^e is known without W: fluxes, and F^e in mode 0, by the other edges'
/// mode 1, each multiplied by its s_l. The function p_l of ops/local_reduced.h is its own local solution,
/// so p_l . F^e = (f, p_l) (docs/math.md#reduced).
template <int P>
__device__ __forceinline__ void put_known(const kg_reference &ref, const kg_element &e,
                                          const double *load, const double (&first)[3], bool exists,
                                          double *local, double *condensed)
{
  constexpr int m = P + 1, n = 3 * m;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < 3; ++i) sum += ref.lift[i * n + l * m] * (1.0 / 3.0) * load[i * KG_LANES];
    condensed[l * m * KG_LANES] =
        sum + KG_REDUCED_SLOPE * (first[(l + 1) % 3] - first[(l + 2) % 3]);
    local[l * KG_LANES] = exists ? e.trace[kg_reduced_trace(l)] : 0.0;
  }
}

template <int P, bool REDUCED>
__global__ void __launch_bounds__(thread_shape<P, REDUCED>::threads)
    local_matrices_thread(const kg_local_matrices_args a)
{
  using shape = thread_shape<P, REDUCED>;
  extern __shared__ double s_w[];  // [column of W][mode][thread]: each thread reads its own
  constexpr int N = shape::N, n = shape::n, m = shape::m, FIRST = shape::FIRST;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t group = ((int64_t)blockIdx.x * shape::threads + threadIdx.x) / KG_LANES;
  if (group >= a.batch.count.n_groups) return;
  const kg_reference &ref = a.batch.reference;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const kg_element e = kg_element_of(x, y, a.material);

  double l[N * (N + 1) / 2];
#pragma unroll
  for (int k = 0; k < N * (N + 1) / 2; ++k)
    l[k] = e.stiffness[0] * ref.stiffness[0][k] + e.stiffness[1] * ref.stiffness[1][k] +
           e.stiffness[2] * ref.stiffness[2][k] + e.tau[0] * ref.edge_mass[0][k] +
           e.tau[1] * ref.edge_mass[1][k] + e.tau[2] * ref.edge_mass[2][k];
#pragma unroll
  for (int i = 0; i < N; ++i) l[i * (i + 1) / 2 + i] += e.mass;
  factor_in_registers<N>(l);

  const double *load = a.load + group * N * KG_LANES + lane;
  double f[N];
#pragma unroll
  for (int i = 0; i < N; ++i) f[i] = load[i * KG_LANES];
  solve_in_registers<N>(l, f);

  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  double *local = a.local + group * kg_local_matrices_rows(&a) * KG_LANES + lane;
  double *condensed = a.condensed + group * n * KG_LANES + lane;
  double first[3];  // s_l F^e in mode 1
#pragma unroll
  for (int edge = 0; edge < 3; ++edge) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + edge) * KG_LANES + lane];
#pragma unroll
    for (int mode = FIRST; mode < m; ++mode) {
      const int row = edge * m + mode, column = edge * shape::MODES + mode - FIRST;
      const double sign = kg_side_sign(side, mode);
      double w[N], product = 0.0;
#pragma unroll
      for (int i = 0; i < N; ++i)
        w[i] =
            sign * (e.tau[edge] * ref.lift[i * n + row] + e.lift_r[edge] * ref.lift_r[i * n + row] +
                    e.lift_s[edge] * ref.lift_s[i * n + row]);
      solve_in_registers<N>(l, w);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        product += w[i] * f[i];
        s_w[(column * N + i) * shape::threads + threadIdx.x] = w[i];
      }
      condensed[row * KG_LANES] = product;
      if (mode == 1) first[edge] = sign * product;
#pragma unroll
      for (int col = 0; col <= row; ++col) {
        const int k = col / m, entry = row * (row + 1) / 2 + col;
        if (col - k * m < FIRST) continue;
        const int of_w = k * shape::MODES + col - k * m - FIRST;
        double value = e.trace[edge * (edge + 1) / 2 + k] * ref.trace_mass[entry];
        if (row == col) value += e.tau[edge];
        value *= sign * kg_side_sign(a.batch.arrays.side_edge[(group * 3 + k) * KG_LANES + lane],
                                     col - k * m);
#pragma unroll
        for (int i = 0; i < N; ++i)
          value -= w[i] * s_w[(of_w * N + i) * shape::threads + threadIdx.x];
        if (REDUCED && row == col && mode == 1) value *= sign;
        const int to = REDUCED ? kg_reduced_row(m, row, col) : entry;
        __stcs(local + to * KG_LANES, exists ? value : 0.0);
      }
    }
  }
  if (REDUCED) put_known<P>(ref, e, load, first, exists, local, condensed);
}

template <int P, bool REDUCED>
kedge_status launch_thread(kedge_context *ctx, const kg_local_matrices_args &a)
{
  constexpr int threads = thread_shape<P, REDUCED>::threads;
  constexpr size_t shared = thread_shape<P, REDUCED>::shared;
  KG_TRY(
      kg_cuda_check(ctx,
                    cudaFuncSetAttribute(local_matrices_thread<P, REDUCED>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                    "local_matrices: asking for shared memory"));
  const int64_t blocks = ((int64_t)a.batch.count.n_groups * KG_LANES + threads - 1) / threads;
  local_matrices_thread<P, REDUCED><<<(unsigned)blocks, threads, shared, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "local_matrices");
}

}  // namespace kg

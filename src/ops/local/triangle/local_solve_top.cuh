// local_solve_top.cuh: the modes of degree P of a local solve eliminated, among which Z^-1 is c I:
//
//   Z^-1 = [ A  B ]    (A - B B^T / c) x = f - B g / c,   y = (g - B^T x) / c
//          [B^T cI]                                       for Z^-1 [x; y] = [f; g]
//
// with B = sum_l tau_l B_l and c = reaction J + (P + 1) sum_l tau_l, because diffusion does not see
// these modes and E_l is (P + 1) I among them. K modes of degree below P are left. Of
//
//   B B^T = sum_l tau_l^2 (P + 1) E_l + sum_{l < k} tau_l tau_k (B_l B_k^T + B_k B_l^T)
//
// the reference has the pairs (`eliminated`).
#pragma once
#include "device/cuda_each.cuh"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/triangle/local_solve_table.cuh"

namespace kg
{

/// Factors by which an element's modes of degree P are eliminated.
struct top_modes {
  int m;
  double mass, tau[3];  ///< reaction J; tau[l]
  double per_c;         ///< 1 / c

  __device__ __forceinline__ top_modes(const kg_element &e, int m_) : m(m_), mass(e.mass)
  {
    for (int l = 0; l < 3; ++l) tau[l] = e.tau[l];
    per_c = 1.0 / (mass + m * (tau[0] + tau[1] + tau[2]));
  }
  /// Factor of E_l: tau_l less tau_l^2 m / c.
  __device__ __forceinline__ double rest(int l) const
  {
    return tau[l] * (mass + m * (tau[(l + 1) % 3] + tau[(l + 2) % 3])) * per_c;
  }
  /// Factor of B_1 B_2^T + B_2 B_1^T; and of B_0 B_l^T + B_l B_0^T, for a sum of tau_1 and tau_2.
  __device__ __forceinline__ double of_sides() const
  {
    return -tau[1] * tau[2] * per_c;
  }
  __device__ __forceinline__ double with_base(double sum) const
  {
    return -tau[0] * per_c * sum;
  }
};

/// Row `top` and column j of Z^-1, where the mode of the row is of degree P.
template <int P>
__device__ __forceinline__ double top_entry(const top_table<P> &table, const top_modes &e, int top,
                                            int j)
{
  const int i = top_table<P>::K + top, degree = mode_degree(j);
  const double sides = alike(i, j) ? e.tau[1] + e.tau[2] : e.tau[1] - e.tau[2];
  const double value = sides * table.edge[top * top_table<P>::K + j];
  if (mode_along(j) != top) return value;
  const double base = e.tau[0] * table.root[degree] * table.root[P];
  return (P - degree) % 2 ? value - base : value + base;
}

enum { TOP_THREADS = 128 };

/// The modes of this thread's element; its first of u.
template <int P>
__device__ __forceinline__ top_modes top_modes_of(const kg_local_solve_args &a, double *&u)
{
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = kg_thread_number() / KG_LANES;
  u = a.u + g * (top_table<P>::K + P + 1) * KG_LANES + lane;
  return top_modes(kg_element_at(&a.batch.arrays, a.first_group + g, lane, &a.materials), P + 1);
}

/// u: [f; g] becomes [f - B g / c; g].
template <int P>
__global__ void __launch_bounds__(TOP_THREADS)
    local_solve_eliminate(const kg_local_solve_args a, const __grid_constant__ top_table<P> table)
{
  constexpr int K = top_table<P>::K;
  if (kg_thread_number() / KG_LANES >= a.n_groups) return;
  double *u, top[P + 1];
  const top_modes e = top_modes_of<P>(a, u);
#pragma unroll
  for (int i = 0; i <= P; ++i) top[i] = e.per_c * u[(K + i) * KG_LANES];
#pragma unroll
  for (int j = 0; j < K; ++j) {
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i <= P; ++i) sum += top_entry<P>(table, e, i, j) * top[i];
    u[j * KG_LANES] -= sum;
  }
}

/// u: [x; g] becomes [x; (g - B^T x) / c].
template <int P>
__global__ void __launch_bounds__(TOP_THREADS)
    local_solve_top(const kg_local_solve_args a, const __grid_constant__ top_table<P> table)
{
  constexpr int K = top_table<P>::K;
  if (kg_thread_number() / KG_LANES >= a.n_groups) return;
  double *u, top[P + 1];
  const top_modes e = top_modes_of<P>(a, u);
#pragma unroll
  for (int i = 0; i <= P; ++i) top[i] = u[(K + i) * KG_LANES];
#pragma unroll
  for (int j = 0; j < K; ++j) {
    const double x = u[j * KG_LANES];
#pragma unroll
    for (int i = 0; i <= P; ++i) top[i] -= top_entry<P>(table, e, i, j) * x;
  }
#pragma unroll
  for (int i = 0; i <= P; ++i) u[(K + i) * KG_LANES] = e.per_c * top[i];
}

}  // namespace kg

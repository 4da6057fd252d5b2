// postprocess_thread.cuh: u* at low orders, where an element fits a thread.
// Layout  u [group][N][lane], q [group][2 N][lane], u_star [group][N*][lane], of the chunk.
// Map     thread = element, warp = group. Reference matrices are operands of the arithmetic
//         (postprocess_table.cuh).
// Cost    kg_postprocess_cost()
#pragma once
#include "device/cuda_each.cuh"
#include "ops/local/recover/postprocess.h"
#include "ops/local/recover/postprocess_table.cuh"
#include "ops/local/triangle/thread_matrix.cuh"

namespace kg
{

enum { STAR_THREADS = 128 };

/// Blocks a multiprocessor is to hold: what an H200 was fastest with.
constexpr int star_blocks(int order)
{
  return order <= 2 ? 6 : order == 3 ? 5 : order == 4 ? 3 : 2;
}

/// Gram matrix of the tangents of an element, turned by its diffusion.
struct tangent_gram {
  double h11, h12, h22;
  explicit __device__ __forceinline__ tangent_gram(const kg_element &e)
      : h11(e.turned[0][0] * e.turned[0][0] + e.turned[0][1] * e.turned[0][1]),
        h12(e.turned[0][0] * e.turned[1][0] + e.turned[0][1] * e.turned[1][1]),
        h22(e.turned[1][0] * e.turned[1][0] + e.turned[1][1] * e.turned[1][1])
  {
  }
};

/// At order 4 an element is made of its corners alone, and what a tensor changes behind a branch:
/// else the compiler has the loads of q wait for the corners.
template <int P>
__device__ __forceinline__ kg_element star_element(const kg_postprocess_args &a, int64_t group,
                                                   int lane)
{
  if constexpr (P != 4) return kg_element_at(&a.batch.arrays, group, lane, &a.materials);
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  return kg_element_of(x, y, kg_unit_material());
}

template <int P>
__device__ __forceinline__ tangent_gram star_gram(const kg_postprocess_args &a, const kg_element &e,
                                                  int64_t group, int lane)
{
  if constexpr (P == 4)
    if (!kg_are_one_number(&a.materials))
      return tangent_gram(kg_element_at(&a.batch.arrays, group, lane, &a.materials));
  return tangent_gram(e);
}

/// Components of mode j of q along the tangents.
template <int N>
__device__ __forceinline__ double2 along_tangents(const double *q, int j, const kg_element &e)
{
  const double x = q[j * KG_LANES], y = q[(N + j) * KG_LANES];
  return make_double2(e.tangent[0][0] * x + e.tangent[0][1] * y,
                      e.tangent[1][0] * x + e.tangent[1][1] * y);
}

/// y = (T H T^T)^-1 y. The first A unknowns have a diagonal matrix: they are eliminated first.
/// @param y  y.get(i), y.set(i, value)
template <int P, class Vector>
__device__ __forceinline__ void solve_rotation(const rotation_table<P> &table,
                                               const tangent_gram &h, Vector y)
{
  constexpr int A = rotation_table<P>::A, B = rotation_table<P>::B;
  const auto inverse = [&](int i) {
    const double root = reciprocal_root(h.h22 + (h.h11 - h.h22) * table.mass[i]);
    return root * root;
  };
  double rest[B * (B + 1) / 2 + (B == 0)], z[B + (B == 0)];
#pragma unroll
  for (int j = 0; j < B; ++j) {
    z[j] = y.get(A + j);
#pragma unroll
    for (int k = 0; k <= j; ++k)
      rest[j * (j + 1) / 2 + k] = j == k ? h.h22 + (h.h11 - h.h22) * table.mass[A + j] : 0.0;
  }
#pragma unroll
  for (int i = 0; i < A; ++i) {
    const double scaled = h.h12 * inverse(i), twice = h.h12 * scaled, of_y = scaled * y.get(i);
#pragma unroll
    for (int j = 0; j < B; ++j) {
      const double column = table.mixed[i * B + j];
      z[j] -= column * of_y;
#pragma unroll
      for (int k = 0; k <= j; ++k)
        rest[j * (j + 1) / 2 + k] -= (column * twice) * table.mixed[i * B + k];
    }
  }
  if constexpr (B > 0) {
    factor_in_registers<B>(rest);
    solve_in_registers<B>(rest, z);
    solve_transposed_in_registers<B>(rest, z);
  }
#pragma unroll
  for (int j = 0; j < B; ++j) {
    y.set(A + j, z[j]);
    z[j] *= h.h12;
  }
#pragma unroll
  for (int i = 0; i < A; ++i) {
    double value = y.get(i);
#pragma unroll
    for (int j = 0; j < B; ++j) value -= table.mixed[i * B + j] * z[j];
    y.set(i, value * inverse(i));
  }
}

/// A vector in registers.
template <int K>
struct register_vector {
  double (&y)[K];
  __device__ __forceinline__ double get(int i) const
  {
    return y[i];
  }
  __device__ __forceinline__ void set(int i, double value)
  {
    y[i] = value;
  }
};

template <int P>
__global__ void __launch_bounds__(STAR_THREADS, star_blocks(P))
    postprocess_thread(const kg_postprocess_args a,
                       const __grid_constant__ postprocess_table<P> table)
{
  using shape = postprocess_table<P>;
  constexpr int N = shape::N, S = shape::S, K = shape::K;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = ((int64_t)blockIdx.x * STAR_THREADS + threadIdx.x) / KG_LANES;
  if (g >= a.n_groups) return;
  const double *q = a.q + g * 2 * N * KG_LANES + lane, *u = a.u + g * N * KG_LANES + lane;
  double p[N][2];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    p[j][0] = q[j * KG_LANES];
    p[j][1] = q[(N + j) * KG_LANES];
  }
  const kg_element e = star_element<P>(a, a.first_group + g, lane);
  const tangent_gram h = star_gram<P>(a, e, a.first_group + g, lane);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const double along = p[j][0], across = p[j][1];
    p[j][0] = e.tangent[0][0] * along + e.tangent[0][1] * across;
    p[j][1] = e.tangent[1][0] * along + e.tangent[1][1] * across;
  }
  double rotation[K] = {}, star[S] = {};
#pragma unroll
  for (int j = 1; j < N; ++j)
#pragma unroll
    for (int k = 0; k < K; ++k)
      rotation[k] += table.rotation[(j - 1) * K + k] * p[j][shape::component_of(j, k)];
  solve_rotation<P>(table.solve, h, register_vector<K>{rotation});
#pragma unroll
  for (int j = 0, at = 0; j < N; ++j) {
    double t[2] = {0.0, 0.0};
#pragma unroll
    for (int k = 0; k < K; ++k)
      if (j > 0) t[shape::component_of(j, k)] += table.rotation[(j - 1) * K + k] * rotation[k];
    p[j][0] -= h.h11 * t[0] + h.h12 * t[1];
    p[j][1] -= h.h12 * t[0] + h.h22 * t[1];
#pragma unroll
    for (int i = 1; i <= S; ++i)
      if (shape::has_potential(j, i))
        star[i - 1] += table.potential[at++] * p[j][shape::component_for(j, i)];
  }
  double *out = a.u_star + g * (S + 1) * KG_LANES + lane;
  double difference = 0.0;
  out[0] = u[0];
#pragma unroll
  for (int i = 0; i < S; ++i) {
    const double d = i + 1 < N ? star[i] - u[(i + 1) * KG_LANES] : star[i];
    difference += d * d;
    out[(i + 1) * KG_LANES] = star[i];
  }
  a.indicator[g * KG_LANES + lane] = sqrt(e.jacobian * difference);
}

}  // namespace kg

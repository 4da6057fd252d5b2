// thread_matrix.cuh: dense algebra of small matrices, one element a thread, in its registers.
// Packed lower triangles: entry (i, j), j <= i, at i (i+1) / 2 + j.
#pragma once
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

/// A = L L^T in place; the diagonal holds 1 / L_ii.
template <int N>
__device__ __forceinline__ void factor_in_registers(double (&a)[N * (N + 1) / 2])
{
#pragma unroll
  for (int i = 0; i < N; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      double sum = a[i * (i + 1) / 2 + j];
#pragma unroll
      for (int k = 0; k < j; ++k) sum -= a[i * (i + 1) / 2 + k] * a[j * (j + 1) / 2 + k];
      a[i * (i + 1) / 2 + j] = i == j ? reciprocal_root(sum) : sum * a[j * (j + 1) / 2 + j];
    }
}

/// One column: w = L^-1 w.
template <int N>
__device__ __forceinline__ void solve_in_registers(const double (&l)[N * (N + 1) / 2],
                                                   double (&w)[N])
{
#pragma unroll
  for (int i = 0; i < N; ++i) {
#pragma unroll
    for (int k = 0; k < i; ++k) w[i] -= l[i * (i + 1) / 2 + k] * w[k];
    w[i] *= l[i * (i + 1) / 2 + i];
  }
}

/// One column: w = L^-T w.
template <int N>
__device__ __forceinline__ void solve_transposed_in_registers(const double (&l)[N * (N + 1) / 2],
                                                              double (&w)[N])
{
#pragma unroll
  for (int i = N - 1; i >= 0; --i) {
    w[i] *= l[i * (i + 1) / 2 + i];
#pragma unroll
    for (int k = 0; k < i; ++k) w[k] -= l[i * (i + 1) / 2 + k] * w[i];
  }
}

}  // namespace kg

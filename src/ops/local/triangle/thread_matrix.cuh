// thread_matrix.cuh: kernels with one element a thread: their launch, and dense algebra of small
// matrices in registers.
// Packed lower triangles: entry (i, j), j <= i, at i (i+1) / 2 + j.
#pragma once
#include "basis/reference.h"
#include "device/cuda_each.cuh"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

/// Launch a kernel whose last parameter is made of the reference matrices of order P.
template <int P, int THREADS, class Arguments, class Table>
kedge_status launch_elements(kedge_context *ctx, const char *name, int32_t n_groups,
                             void (*kernel)(Arguments, Table), const Arguments &a)
{
  const double *values;
  KG_TRY(kg_reference_of(ctx, P, &values));
  return kg_launch_each<THREADS>(ctx, name, (int64_t)KG_LANES * n_groups, kernel, a,
                                 Table(kg_reference_at(P, values)));
}

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

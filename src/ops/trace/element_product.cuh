// element_product.cuh: y = K x of a thread's element, K^e in the forms of kg_trace_apply(). Every
// entry is taken once, in the order of memory, and used twice.
//
// `entries.take(t)` gives number t of the element; t counts up, known when a loop is unrolled.
#pragma once
#include "ops/local/reduced.h"
#include "ops/real.h"

namespace
{

/// Numbers of an element.
template <int FACETS, int M, bool REDUCED>
constexpr int ELEMENT_ENTRIES = REDUCED ? 3 + (3 * M - 3) * (3 * M - 2) / 2
                                        : FACETS *M *(FACETS *M + 1) / 2;

/// Complete y = K x by rows FIRST .. N - 1 of packed K; y holds the sums of earlier rows.
template <int FIRST, int N, class Entries>
__device__ __forceinline__ void multiply_rows(Entries &entries, int first_entry,
                                              const kg_real (&x)[N], kg_real (&y)[N])
{
#pragma unroll
  for (int i = FIRST; i < N; ++i) {
    kg_real sum = 0;
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const kg_real value = entries.take(first_entry + i * (i + 1) / 2 + j);
      if (j < i) {
        sum += value * x[j];
        y[j] += value * x[i];
      } else {
        y[i] = sum + value * x[i];
      }
    }
  }
}

/// x . y of an element.
template <int N>
__device__ __forceinline__ double dot_element(const kg_real (&x)[N], const kg_real (&y)[N])
{
  double dot = 0.0;
#pragma unroll
  for (int i = 0; i < N; ++i) dot += (double)x[i] * y[i];
  return dot;
}

/// y = K x and x . y of an element from its reduced form (ops/local/reduced.h). x is spoilt.
template <int M, class Entries>
__device__ __forceinline__ double multiply_reduced(Entries &entries, const kg_real (&x)[3 * M],
                                                   kg_real (&y)[3 * M])
{
  constexpr int N = 3 * M - 3;
  kg_real head[KG_REDUCED_FIRST], slope[3], w[N], v[N];
#pragma unroll
  for (int t = 0; t < KG_REDUCED_FIRST; ++t) head[t] = entries.take(t);
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    kg_real &diagonal = head[KG_REDUCED_FLUX + l * (l + 3) / 2];
    slope[l] = copysign((kg_real)KG_REDUCED_SLOPE, diagonal);
    diagonal = fabs(diagonal);
    w[l] = x[l * M + 1] - slope[l] * (x[(l + 1) % 3 * M] - x[(l + 2) % 3 * M]);
#pragma unroll
    for (int i = 2; i < M; ++i) w[3 + l * (M - 2) + i - 2] = x[l * M + i];
  }
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    v[l] = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      v[l] += head[KG_REDUCED_FLUX + (k < l ? l * (l + 1) / 2 + k : k * (k + 1) / 2 + l)] * w[k];
  }
  multiply_rows<3>(entries, KG_REDUCED_FLUX, w, v);

  const kg_real to_1 = x[M] - x[0], to_2 = x[2 * M] - x[0], between = x[2 * M] - x[M];
  const kg_real f_01 = head[0] * to_1, f_02 = head[1] * to_2, f_12 = head[2] * between;
  const double dot =
      dot_element(w, v) - (double)f_01 * to_1 - (double)f_02 * to_2 - (double)f_12 * between;
  const kg_real flux[3] = {f_01 + f_02, f_12 - f_01, -f_02 - f_12};
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    y[l * M] = flux[l] + slope[(l + 1) % 3] * v[(l + 1) % 3] - slope[(l + 2) % 3] * v[(l + 2) % 3];
    y[l * M + 1] = v[l];
#pragma unroll
    for (int i = 2; i < M; ++i) y[l * M + i] = v[3 + l * (M - 2) + i - 2];
  }
  return dot;
}

/// x to its differences, or what their product is to that of x (ops/local/differences.h).
template <int FACETS, int M>
__device__ __forceinline__ void take_differences(kg_real (&x)[FACETS * M])
{
#pragma unroll
  for (int l = 0; l < FACETS - 1; ++l) x[l * M] -= x[(FACETS - 1) * M];
}

template <int FACETS, int M>
__device__ __forceinline__ void give_differences(kg_real (&y)[FACETS * M])
{
  kg_real sum = y[0];
#pragma unroll
  for (int l = 1; l < FACETS - 1; ++l) sum += y[l * M];
  y[(FACETS - 1) * M] -= sum;
}

/// y = K x and x . y of an element; x is spoilt.
/// @param differences  K is K'; single precision alone
template <int FACETS, int M, bool REDUCED, class Entries>
__device__ __forceinline__ double multiply_element(Entries &entries, bool differences,
                                                   kg_real (&x)[FACETS * M],
                                                   kg_real (&y)[FACETS * M])
{
  if constexpr (REDUCED) {
    return multiply_reduced<M>(entries, x, y);
  } else {
    const bool changes = sizeof(kg_real) == sizeof(float) && differences;
    if (changes) take_differences<FACETS, M>(x);
    multiply_rows<0>(entries, 0, x, y);
    const double dot = dot_element(x, y);
    if (changes) give_differences<FACETS, M>(y);
    return dot;
  }
}

}  // namespace

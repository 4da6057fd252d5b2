// edge_rows.cuh: the M numbers of an edge between registers and memory, 16 bytes at once where a
// row is a multiple of 16 bytes, else two numbers or one.
#pragma once
#include "ops/real.h"

namespace
{

template <int M>
constexpr int EDGE_WORD = M * sizeof(kg_real) % 16 == 0 ? 16 / sizeof(kg_real)
                          : M % 2 == 0                  ? 2
                                                        : 1;

template <int N>
struct alignas(N * sizeof(kg_real)) edge_word {
  kg_real value[N];
};

template <int M>
__device__ __forceinline__ void load_edge(kg_real *to, const kg_real *row)
{
  constexpr int N = EDGE_WORD<M>;
#pragma unroll
  for (int k = 0; k < M; k += N) {
    const auto word = *(const edge_word<N> *)(row + k);
#pragma unroll
    for (int i = 0; i < N; ++i) to[k + i] = word.value[i];
  }
}

template <int M>
__device__ __forceinline__ void store_edge(kg_real *row, const kg_real *from)
{
  constexpr int N = EDGE_WORD<M>;
#pragma unroll
  for (int k = 0; k < M; k += N) {
    edge_word<N> word;
#pragma unroll
    for (int i = 0; i < N; ++i) word.value[i] = from[k + i];
    *(edge_word<N> *)(row + k) = word;
  }
}

/// Loads and stores of one of K vectors that lie side by side; `row` is its first number.
template <int M, int K>
__device__ __forceinline__ void load_edge_of(kg_real *to, const kg_real *row)
{
  if constexpr (K == 1) {
    load_edge<M>(to, row);
  } else {
#pragma unroll
    for (int k = 0; k < M; ++k) to[k] = row[k * K];
  }
}

template <int M, int K>
__device__ __forceinline__ void store_edge_of(kg_real *row, const kg_real *from)
{
  if constexpr (K == 1) {
    store_edge<M>(row, from);
  } else {
#pragma unroll
    for (int k = 0; k < M; ++k) row[k * K] = from[k];
  }
}

}  // namespace

// postprocess_rotations.cuh: T H T^T y = T p as a problem of block_solve.cuh,
//
//   T H T^T = h22 I + (h11 - h22) T_1 T_1^T + h12 (T_1 T_2^T + T_2 T_1^T).
//
// It is diagonal among the first A rotations (postprocess_table.cuh), which are eliminated by hand.
#pragma once
#include "ops/local/triangle/block_solve.cuh"
#include "ops/local/recover/postprocess_thread.cuh"

namespace kg
{

template <int P>
struct rotation_problem {
  static constexpr int K = P * (P + 1) / 2, A = even_modes(K), N = K - A, ROWS = K, FIRST = A;
  static constexpr int MIXED = (K + 1) / 2 * 2, TABLE = MIXED + A * N;  ///< mass [K], mixed [A][N]
  enum { H22, DIFFERENCE, H12, INVERSE, FACTORS = INVERSE + A };

  static __device__ __forceinline__ int mode_of(int place)
  {
    return place;
  }
  static __device__ __forceinline__ void stage(const kg_reference &ref, double *s_table)
  {
    for (int k = threadIdx.x; k < K; k += blockDim.x)
      s_table[k] = __ldg(ref.rotation_mass[0] + k * (k + 3) / 2);
    for (int at = threadIdx.x; at < A * N; at += blockDim.x) {
      const int i = at / N, k = A + at % N;
      s_table[MIXED + at] = __ldg(ref.rotation_mass[1] + k * (k + 1) / 2 + i);
    }
  }
  template <class Put>
  static __device__ __forceinline__ void set(const kg_element &e, Put put)
  {
    const tangent_gram h(e);
    put(H22, h.h22);
    put(DIFFERENCE, h.h11 - h.h22);
    put(H12, h.h12);
  }
  /// y of the first ones over their diagonal; the others less what those contribute.
  template <int E>
  static __device__ __forceinline__ void reduce(const block_element<E> &c, int worker, int workers)
  {
    const double h22 = c.factor(H22), difference = c.factor(DIFFERENCE), h12 = c.factor(H12);
    for (int i = worker; i < A; i += workers) {
      const double root = reciprocal_root(h22 + difference * c.table[i]), inverse = root * root;
      c.factor(INVERSE + i) = inverse;
      c.x(i) *= inverse;
    }
    __syncthreads();
    for (int k = worker; k < N; k += workers) {
      double sum = 0.0;
#pragma unroll 4
      for (int i = 0; i < A; ++i) sum = fma(c.table[MIXED + i * N + k], c.x(i), sum);
      c.x(A + k) = fma(-h12, sum, c.x(A + k));
    }
  }
  template <int B, int E>
  static __device__ __forceinline__ void tile(const block_element<E> &c, int row, int col,
                                              double (&t)[B][B])
  {
    const double h12 = c.factor(H12), negative_square = -h12 * h12;
#pragma unroll
    for (int r = 0; r < B; ++r)
#pragma unroll
      for (int k = 0; k < B; ++k)
        t[r][k] = r == k && row == col ? c.factor(H22) + c.factor(DIFFERENCE) * c.table[A + row + r]
                                       : 0.0;
#pragma unroll 2
    for (int i = 0; i < A; ++i) {
      const double *const mixed = c.table + MIXED + i * N;
      const double weight = negative_square * c.factor(INVERSE + i);
      double down[B];
#pragma unroll
      for (int r = 0; r < B; ++r) down[r] = weight * mixed[row + r];
#pragma unroll
      for (int k = 0; k < B; ++k) {
        const double across = mixed[col + k];
#pragma unroll
        for (int r = 0; r < B; ++r) t[r][k] = fma(down[r], across, t[r][k]);
      }
    }
  }
  template <int E>
  static __device__ __forceinline__ void restore(const block_element<E> &c, int worker, int workers)
  {
    const double h12 = c.factor(H12);
    for (int i = worker; i < A; i += workers) {
      double sum = 0.0;
#pragma unroll 4
      for (int k = 0; k < N; ++k) sum = fma(c.table[MIXED + i * N + k], c.x(A + k), sum);
      c.x(i) = fma(-h12 * c.factor(INVERSE + i), sum, c.x(i));
    }
  }
};

}  // namespace kg

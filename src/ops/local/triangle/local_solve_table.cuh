// local_solve_table.cuh: the reference matrices of a local solve without their zeros, as a
// parameter of a kernel: there they are operands of the arithmetic, which no load has to bring.
//
// Mode i has degree d and is the along-th along the base, mode j has degree c and is the other-th:
//   F_0    (-1)^(d - along) sqrt(d + 1) in column `along`, zero elsewhere; E_0 follows
//   F_1    zero in columns above d;   F_2 = (-1)^(along + column) F_1
//   E_l    (d + 1) I among modes of one degree;   E_2 = E_1 for equal parity, else -E_1
//   Dr^T   zero but for c < d, other <= along, different parity; (Ds - Dr / 2)^T: the same parity
//   stiffness  zero where d or c is P, because (Dr)_ij = (phi_i, d_r phi_j)
//
// The K modes of degree below P come first. B_l is E_l between them and the modes of degree P.
#pragma once
#include "basis/reference.h"
#include "ops/local/triangle/mode_parity.cuh"

namespace kg
{

/// Whether two modes are of one parity along the base.
__host__ __device__ constexpr bool alike(int i, int j)
{
  return (mode_along(i) - mode_along(j)) % 2 == 0;
}

/// The coupling of the modes of degree P to the other modes.
template <int P>
struct top_table {
  static constexpr int K = P * (P + 1) / 2;
  double root[P + 1];        ///< of degree + 1
  double edge[(P + 1) * K];  ///< B_1^T

  explicit top_table(const kg_reference &ref)
  {
    for (int d = 0; d <= P; ++d) root[d] = sqrt(d + 1.0);
    for (int i = K; i < K + P + 1; ++i)
      for (int j = 0; j < K; ++j) edge[(i - K) * K + j] = ref.edge_mass[1][i * (i + 1) / 2 + j];
  }
};

template <int P>
struct local_solve_table {
  static constexpr int N = (P + 1) * (P + 2) / 2, K = N - P - 1, PACKED = K * (K + 1) / 2;

  /// The first number of row i of F_1: rows of degree d have d + 1 numbers.
  static __host__ __device__ constexpr int lift_at(int i)
  {
    const int d = mode_degree(i);
    return d * (d + 1) * (2 * d + 1) / 6 + (i - d * (d + 1) / 2) * (d + 1);
  }
  static __host__ __device__ constexpr bool has_derivative(int i, int j)
  {
    return mode_degree(j) < mode_degree(i) && mode_along(j) <= mode_along(i);
  }
  static constexpr int derivatives()
  {
    int count = 0;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < i; ++j) count += has_derivative(i, j);
    return count;
  }
  /// Pairs of the K modes, those that are alike twice.
  static constexpr int weighted_pairs()
  {
    int count = 0;
    for (int i = 0; i < K; ++i)
      for (int j = 0; j <= i; ++j) count += alike(i, j) ? 2 : 1;
    return count;
  }

  top_table<P> top;
  double lift[lift_at(N)];
  double derivative[derivatives()];  ///< row after row: Dr^T, or (Ds - Dr / 2)^T by parity
  /// Packed K x K: E_1 if degrees differ; Dr Dr^T and (Ds - Dr / 2) (Ds - Dr / 2)^T, or what mixes
  /// them; B_0 B_1^T + B_1 B_0^T and, of modes alike, B_1 B_2^T + B_2 B_1^T
  double edge_mass[PACKED], stiffness[weighted_pairs()], eliminated[weighted_pairs()];

  explicit local_solve_table(const kg_reference &ref) : top(ref)
  {
    for (int i = 0, d = 0; i < N; ++i) {
      for (int j = 0; j <= mode_degree(i); ++j)
        lift[lift_at(i) + j] = ref.lift[i * 3 * (P + 1) + P + 1 + j];
      for (int j = 0; j < i; ++j)
        if (has_derivative(i, j))
          derivative[d++] = (alike(i, j) ? ref.gradient_s : ref.gradient_r)[i * N + j];
    }
    for (int i = 0, k = 0, s = 0; i < K; ++i)
      for (int j = 0; j <= i; ++j, ++k) {
        edge_mass[k] = ref.edge_mass[1][k];
        stiffness[s] = ref.stiffness[1][k];
        eliminated[s++] = ref.eliminated[0][k];
        if (!alike(i, j)) continue;
        stiffness[s] = ref.stiffness[2][k] - 0.25 * ref.stiffness[1][k];
        eliminated[s++] = ref.eliminated[1][k];
      }
  }
};

}  // namespace kg

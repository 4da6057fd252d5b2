// postprocess_table.cuh: the reference matrices of post-processing without their zeros, as a
// parameter of a kernel: there they are operands of the arithmetic, which no load has to bring.
//
// Rotation k < A has its first component in modes even along the base and its second in odd ones,
// the others the reverse (basis/potential.h): of T_1 and T_2 one is zero in every place. T_1 T_1^T
// is diagonal, and T_1 T_2^T + T_2 T_1^T is zero but between the first A and the others.
#pragma once
#include "basis/reference.h"
#include "ops/local/triangle/mode_parity.cuh"

namespace kg
{

template <int P>
struct rotation_table {
  static constexpr int K = P * (P + 1) / 2, A = even_modes(K), B = K - A;
  static_assert(A == (P + 1) * (P + 1) / 4, "as kg_postprocess_cost() has it");
  double mass[K];                    ///< diagonal of T_1 T_1^T
  double mixed[B == 0 ? 1 : A * B];  ///< T_1 T_2^T + T_2 T_1^T, [A][B]

  explicit rotation_table(const kg_reference &ref)
  {
    for (int k = 0; k < K; ++k) mass[k] = ref.rotation_mass[0][k * (k + 3) / 2];
    for (int i = 0; i < A; ++i)
      for (int k = A; k < K; ++k) mixed[i * B + k - A] = ref.rotation_mass[1][k * (k + 1) / 2 + i];
  }
};

template <int P>
struct postprocess_table {
  static constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 1, K = P * (P + 1) / 2;
  static constexpr int A = rotation_table<P>::A;

  /// Component of rotation k that mode j is part of.
  static __host__ __device__ constexpr int component_of(int j, int k)
  {
    return (mode_along(j) % 2 == 0) == (k < A) ? 0 : 1;
  }
  /// Component of the gradient that mode j is part of, where it says something of potential i > 0.
  static __host__ __device__ constexpr int component_for(int j, int i)
  {
    return (mode_along(j) - mode_along(i)) % 2 == 0 ? 1 : 0;
  }
  static __host__ __device__ constexpr bool has_potential(int j, int i)
  {
    return mode_degree(j) > 1 || mode_degree(i) <= 2 * mode_degree(j) + 1;
  }
  static constexpr int potentials()
  {
    int count = 0;
    for (int j = 0; j < N; ++j)
      for (int i = 1; i <= S; ++i) count += has_potential(j, i);
    return count;
  }

  double rotation[(N - 1) * K];  ///< [mode j - 1][k]; no rotation is constant
  rotation_table<P> solve;
  double potential[potentials()];  ///< mode j by mode j

  explicit postprocess_table(const kg_reference &ref) : solve(ref)
  {
    for (int j = 1; j < N; ++j)
      for (int k = 0; k < K; ++k)
        rotation[(j - 1) * K + k] = ref.rotation[component_of(j, k)][j * K + k];
    for (int j = 0, at = 0; j < N; ++j)
      for (int i = 1; i <= S; ++i)
        if (has_potential(j, i))
          potential[at++] = ref.potential[component_for(j, i)][j * S + i - 1];
  }
};

}  // namespace kg

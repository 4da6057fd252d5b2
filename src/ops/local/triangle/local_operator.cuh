// local_operator.cuh: what is left of Z^-1 when the modes of degree P are eliminated
// (local_solve_top.cuh), as a combination of reference matrices.
#pragma once
#include "ops/local/triangle/local_solve_top.cuh"

namespace kg
{

/// The matrix of the K modes of degree below P. The reference triangle is symmetric about its base,
/// which leaves four of the six reference matrices: for modes of the same parity S_rs = S_rr and
/// E_2 = E_1, otherwise S_rr = 0, S_ss = S_rs / 2, E_0 = 0 and E_2 = -E_1. Of the pairs of edges
/// those of the base with the others are the same but for their sign, which depends on parity, and
/// that of the others is zero for modes of different parity.
template <int P>
struct condensed_operator {
  static constexpr int TERMS = 6, K = P * (P + 1) / 2, MODES = K + P + 1;
  double same_rs, other_rs, ss, base, same_edge, other_edge, same_pair, other_pair, sides;
  double diagonal;  ///< what is added to the diagonal

  condensed_operator() = default;
  explicit __device__ __forceinline__ condensed_operator(const kg_element &e)
      : same_rs(e.stiffness[0] + e.stiffness[1]),
        other_rs(e.stiffness[1]),
        ss(e.stiffness[2]),
        diagonal(e.mass)
  {
    const top_modes top(e, P + 1);
    base = top.rest(0);
    same_edge = top.rest(1) + top.rest(2);
    other_edge = top.rest(1) - top.rest(2);
    same_pair = top.with_base(e.tau[1] + e.tau[2]);
    other_pair = top.with_base(e.tau[1] - e.tau[2]);
    sides = top.of_sides();
  }
  /// Entry k of the packed reference matrices.
  static __device__ __forceinline__ void read(const kg_reference &ref, int k, double (&r)[TERMS])
  {
    r[0] = __ldg(ref.stiffness[1] + k);
    r[1] = __ldg(ref.edge_mass[1] + k);
    r[2] = __ldg(ref.eliminated[0] + k);
    r[3] = __ldg(ref.stiffness[2] + k);
    r[4] = __ldg(ref.edge_mass[0] + k);
    r[5] = __ldg(ref.eliminated[1] + k);
  }
  /// The entry of the matrix; whether its modes are of one parity. For those of different parity
  /// fewer of the matrices do.
  __device__ __forceinline__ double combine(const double (&r)[TERMS], bool same) const
  {
    return (same ? same_rs : other_rs) * r[0] + (same ? same_edge : other_edge) * r[1] +
           (same ? same_pair : other_pair) * r[2] + ss * r[3] + base * r[4] + sides * r[5];
  }
  __device__ __forceinline__ double combine_other(const double (&r)[TERMS]) const
  {
    return (other_rs + 0.5 * ss) * r[0] + other_edge * r[1] + other_pair * r[2];
  }
};

}  // namespace kg

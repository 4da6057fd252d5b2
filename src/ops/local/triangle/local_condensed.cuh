// local_condensed.cuh: Z^-1 x = b as a problem of block_solve.cuh, the modes of degree P eliminated
// by hand (local_solve_top.cuh): with B = sum_l tau_l B_l,
//
//   (A - B B^T / c) x = f - B g / c,   y = (g - B^T x) / c
//
// The matrix is that of local_operator.cuh.
#pragma once
#include "ops/local/triangle/block_solve.cuh"
#include "ops/local/triangle/local_operator.cuh"
#include "ops/local/triangle/local_solve_top.cuh"

namespace kg
{

/// STAGED: the reference matrices are in shared memory.
template <int P, bool STAGED>
struct condensed_problem {
  static constexpr int K = P * (P + 1) / 2, N = K, ROWS = K + P + 1, FIRST = 0;
  static constexpr int EVEN = even_modes(K);  ///< in the first places
  static constexpr int TERMS = KG_CONDENSED_TERMS, m = P + 1;
  static constexpr int COUPLING = 2 * K * m;  ///< [place][mode of degree P]: of edges 1 and 0
  static constexpr int TABLE = COUPLING + (STAGED ? TERMS * K * (K + 1) / 2 : 0);
  enum {
    SAME_RS,
    OTHER_RS,
    SS,
    BASE,
    SAME_EDGE,
    OTHER_EDGE,
    SAME_PAIR,
    OTHER_PAIR,
    SIDES,
    MASS,
    TAU_BASE,
    TAU_SUM,
    TAU_DIFFERENCE,
    PER_C,
    FACTORS
  };

  /// Modes that are even along the base come before odd ones, those of degree P last.
  static __device__ __forceinline__ int mode_of(int place)
  {
    return place < K ? mode_in_place(place, EVEN) : place;
  }
  static __device__ __forceinline__ void stage(const kg_reference &ref, double *s_table)
  {
    double2 *const s_coupling = (double2 *)s_table, *const s_terms = s_coupling + COUPLING / 2;
    for (int k = threadIdx.x; k < K * m; k += blockDim.x) {
      const int row = K + k % m, at = row * (row + 1) / 2 + mode_of(k / m);
      s_coupling[k] = make_double2(__ldg(ref.edge_mass[1] + at), __ldg(ref.edge_mass[0] + at));
    }
    for (int k = threadIdx.x; k < (TABLE - COUPLING) / 2; k += blockDim.x)
      s_terms[k] = __ldg((const double2 *)ref.condensed_terms + k);
  }

  template <class Put>
  static __device__ __forceinline__ void set(const kg_element &e, Put put)
  {
    const condensed_operator<P> left(e);
    put(SAME_RS, left.same_rs);
    put(OTHER_RS, left.other_rs);
    put(SS, left.ss);
    put(BASE, left.base);
    put(SAME_EDGE, left.same_edge);
    put(OTHER_EDGE, left.other_edge);
    put(SAME_PAIR, left.same_pair);
    put(OTHER_PAIR, left.other_pair);
    put(SIDES, left.sides);
    put(MASS, left.diagonal);
    put(TAU_BASE, e.tau[0]);
    put(TAU_SUM, e.tau[1] + e.tau[2]);
    put(TAU_DIFFERENCE, e.tau[1] - e.tau[2]);
    put(PER_C, top_modes(e, P + 1).per_c);
  }

  /// x -= B g / c.
  template <int E>
  static __device__ __forceinline__ void reduce(const block_element<E> &c, int worker, int workers)
  {
    const double sum = c.factor(TAU_SUM), difference = c.factor(TAU_DIFFERENCE);
    const double per_c = c.factor(PER_C), base = c.factor(TAU_BASE);
    double g[m];
#pragma unroll
    for (int top = 0; top < m; ++top) g[top] = c.x(K + top);
#pragma unroll 2
    for (int j = worker; j < K; j += workers) {
      const double2 *const coupling = (const double2 *)c.table + j * m;
      double of[2] = {}, of_base = 0.0;  // modes of degree P, even and odd
#pragma unroll
      for (int top = 0; top < m; ++top) {
        of[top % 2] = fma(coupling[top].x, g[top], of[top % 2]);
        of_base = fma(coupling[top].y, g[top], of_base);
      }
      const bool odd = j >= EVEN;
      const double value =
          (odd ? difference : sum) * of[0] + (odd ? sum : difference) * of[1] + base * of_base;
      c.x(j) = fma(-per_c, value, c.x(j));
    }
  }

  /// t += (same or other) u + (same or other) v of a pair of terms.
  struct term_factors {
    double same[2], other[2];
  };
  template <int B, int E>
  static __device__ __forceinline__ void add_terms(const block_element<E> &c, int pair,
                                                   const term_factors &f, int i, int j,
                                                   double (&t)[B][B])
  {
    const double *const all = STAGED ? c.table + COUPLING : c.ref->condensed_terms;
    constexpr int CUT = EVEN % B;  // where parity changes, in tiles in which it does
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int low = quarter / 2, left = quarter % 2;
      const bool same = (i + low * (B - 1) < EVEN) == (j + left * (B - 1) < EVEN);
      if (pair == TERMS / 2 - 1 && !same) continue;  // the last two matrices vanish
      const double first = same ? f.same[0] : f.other[0], second = same ? f.same[1] : f.other[1];
#pragma unroll
      for (int r = low * CUT; r < (low ? B : CUT); ++r) {
        const int row = i + r;
        const double2 *const terms =
            (const double2 *)(all + (row * (row + 1) / 2 + j) * TERMS) + pair;
#pragma unroll
        for (int k = left * CUT; k < (left ? B : CUT); ++k) {
          const double2 value = terms[TERMS / 2 * k];
          t[r][k] = fma(first, value.x, t[r][k]);
          t[r][k] = fma(second, value.y, t[r][k]);
        }
      }
    }
  }
  template <int B, int E>
  static __device__ __forceinline__ void tile(const block_element<E> &c, int i, int j,
                                              double (&t)[B][B])
  {
#pragma unroll
    for (int r = 0; r < B; ++r)
#pragma unroll
      for (int k = 0; k < B; ++k) t[r][k] = 0.0;
    term_factors f = {{c.factor(SAME_RS), c.factor(SAME_EDGE)},
                      {c.factor(OTHER_RS), c.factor(OTHER_EDGE)}};
    add_terms(c, 0, f, i, j, t);
    f.same[0] = c.factor(SAME_PAIR);
    f.other[0] = c.factor(OTHER_PAIR);
    f.same[1] = f.other[1] = c.factor(SS);
    add_terms(c, 1, f, i, j, t);
    f.same[0] = f.other[0] = c.factor(BASE);
    f.same[1] = f.other[1] = c.factor(SIDES);
    add_terms(c, 2, f, i, j, t);
    if (i != j) return;
    const double mass = c.factor(MASS);
#pragma unroll
    for (int r = 0; r < B; ++r) t[r][r] += mass;
  }

  /// The modes of degree P: (g - B^T x) / c.
  template <int E>
  static __device__ __forceinline__ void restore(const block_element<E> &c, int worker, int workers)
  {
    const double sum = c.factor(TAU_SUM), difference = c.factor(TAU_DIFFERENCE);
    const double base = c.factor(TAU_BASE);
#pragma unroll 1
    for (int top = worker; top < m; top += workers) {
      const double2 *const coupling = (const double2 *)c.table + top;
      double of[2] = {}, of_base[2] = {};  // modes even and odd
#pragma unroll
      for (int parity = 0; parity < 2; ++parity)
#pragma unroll
        for (int j = parity * EVEN; j < (parity ? K : EVEN); ++j) {
          const double x = c.x(j);
          of[parity] = fma(coupling[j * m].x, x, of[parity]);
          of_base[parity] = fma(coupling[j * m].y, x, of_base[parity]);
        }
      const bool odd = top % 2 == 1;
      const double value = (odd ? difference : sum) * of[0] + (odd ? sum : difference) * of[1];
      c.x(K + top) = c.factor(PER_C) * (c.x(K + top) - value - base * (of_base[0] + of_base[1]));
    }
  }
};

}  // namespace kg

// half_lanes.cuh: modes and trace of halves, of which a few lanes of a warp eliminate the modes for
// every element (triangle/lane_rows.cuh), built without tables: with unknown (i, j) of a half times
// root_i root_j in place of the mode L_i(r) L_j(s), and with the modes k of facets 0 and 1 as
// (k, -1) and (-1, k), whose roots are root_k and -1 (or 1, basis/halves.h), an entry is
//
//   R_xj = (G_rr c_x + t_1) / root_j^2   for (i, j), (i', j), x the larger of i and i'
//   S_iy = (G_ss c_y + t_0) / root_i^2   for (i, j), (i, j'), y the larger of j and j'
//   R_ij + S_ij + c J / (root_i root_j)^2   on the diagonal
//   G_rs   where j - j' is odd and i - i' has another sign than j - j'
//
// and zero elsewhere. So an element has a list of different numbers, and a lane looks each of its
// entries up: in the place that a list of all elements, made once a block, has for it.
//
// Layout  s_values of a warp [value][element], places [half][register][lane q] in bytes
#pragma once
#include "ops/local/parallelogram/parallelogram.h"
#include "ops/local/triangle/lane_rows.cuh"

namespace kg
{

/// Rows of a half: modes of m x m, trace but its first LANES unknowns, right hand side.
template <int m, int LANES>
using half_rows = lane_rows<(m * m + 1) / 2 + 2 * m - LANES, LANES, (m * m + 1) / 2>;

/// A half; behind its rows come those first unknowns of the trace, of which each lane has one.
template <int m_, int LANES_>
struct half_system : half_rows<m_, LANES_> {
  using rows = half_rows<m_, LANES_>;
  using rows::N, rows::LANES, rows::ROWS, rows::ENTRIES, rows::PIVOTS;
  static constexpr int m = m_, E = 32 / LANES, TRACE = 2 * m;
  /// Entries of a lane in its row behind the right hand side.
  static constexpr int BEHIND = N + 1 + LANES, ALL = ENTRIES + BEHIND;

  /// Values of an element: of all, then those of the half that is at work, then right hand sides.
  static constexpr int ZERO = 0, ONE = 1, TERMS = 2, MASS = TERMS + KG_HALF_TERMS,
                       ALONG_R = MASS + 1, ALONG_S = ALONG_R + (m * m + 1) / 2,
                       DIAGONAL = ALONG_S + (m * m + 1) / 2, TRACES = DIAGONAL + (m * m + 1) / 2,
                       LOAD = TRACES + TRACE, VALUES = LOAD + m * m, ACROSS = TERMS + 1;
  static_assert(sizeof(double) * VALUES * E < 1 << 16, "places are 16 bits");
  static constexpr int PLACES = KG_HALVES * ALL * LANES;
  /// Numbers of all elements: 1 / root_k [m], c_x [m], c of the trace next to even and odd modes.
  static constexpr int CONSTANTS = 2 * m + 2;

  /// An unknown of a half; i = -2 where it has fewer.
  struct unknown {
    int i, j;
    bool odd;  ///< where j is that of modes which it meets in terms other than G_rs
  };
  static __device__ int trace_of(int row)
  {
    return row > N ? row - N - 1 : row < PIVOTS ? -1 : row - PIVOTS + LANES;
  }
  static __device__ unknown unknown_of(int half, int row)
  {
    const int trace = trace_of(row);
    if (trace >= m) return {-1, trace - m, (trace - m) % 2 == 1};
    if (trace >= 0) return {trace, -1, (trace + half) % 2 == 1};
    if (row >= kg_half_modes(m, half)) return {-2, -2, false};
    const kg_half_mode mode = kg_half_mode_at(m, half, row);
    return {mode.i, mode.j, mode.j % 2 == 1};
  }
  static __device__ int larger(int a, int b)
  {
    return a < b ? b : a;
  }
  /// The value that is entry (row, column) of a half.
  static __device__ int value_of(int half, int row, int column)
  {
    if (column == N || column > row) return ZERO;
    const unknown y = unknown_of(half, column);
    if (row == N) return y.i < 0 || y.j < 0 ? ZERO : LOAD + kg_half_mode_number({y.i, y.j});
    const unknown x = unknown_of(half, row);
    if (x.i == -2 || y.i == -2) return row == column ? ONE : ZERO;
    if (x.odd != y.odd) return (x.i - y.i) * (x.j - y.j) < 0 ? ACROSS : ZERO;
    if (row == column)
      return row < PIVOTS ? DIAGONAL + (x.i * m + x.j) / 2 : TRACES + trace_of(row);
    if (x.j == y.j && x.j >= 0) return ALONG_R + (larger(x.i, y.i) * m + x.j) / 2;
    if (x.i == y.i && x.i >= 0) return ALONG_S + (x.i * m + larger(x.j, y.j)) / 2;
    return ZERO;
  }
  /// The places of all entries, for the block.
  static __device__ __forceinline__ void stage_places(uint16_t *s_places)
  {
    for (int t = threadIdx.x; t < PLACES; t += blockDim.x) {
      const int half = t / (ALL * LANES), q = t % LANES, at = t / LANES % ALL;
      int r = 0;
      while (r + 1 < ROWS && at >= rows::entry(r + 1, 0)) ++r;
      const int row = LANES * r + q;
      const int value = at >= ENTRIES ? value_of(half, N + 1 + q, at - ENTRIES)
                        : row <= N    ? value_of(half, row, at - rows::entry(r, 0))
                                      : ZERO;
      s_places[t] = (uint16_t)(value * E * sizeof(double));
    }
  }
  /// c_x, x >= -1, where modes have the parity of x: the sum of root_a^2 over a > x.
  static __device__ double sum_of_squares(int x, int parity)
  {
    const int last = (m - parity) % 2 == 0 ? m : m + 1;
    return last * (last + 1) / 2 - x * (x + 1) / 2;
  }
  static __device__ __forceinline__ void stage_constants(const double *root, double *s_constants)
  {
    for (int k = threadIdx.x; k < CONSTANTS; k += blockDim.x)
      s_constants[k] = k < m       ? 1.0 / root[k]
                       : k < 2 * m ? sum_of_squares(k - m, (k - m) % 2)
                                   : sum_of_squares(-1, k - 2 * m);
  }
};

/// A warp at its elements.
template <class system>
struct half_lanes : lane_factor<system> {
  using lane_factor<system>::q, lane_factor<system>::e, lane_factor<system>::s_l;
  const uint16_t *s_places;  ///< of the lane
  const double *s_constants;
  double *s_values;  ///< of the element

  __device__ __forceinline__ half_lanes(const uint16_t *places, const double *constants,
                                        double *values, double2 *factor)
      : lane_factor<system>(factor),
        s_places(places + q),
        s_constants(constants),
        s_values(values + e)
  {
  }
  __device__ __forceinline__ double &value(int k) const
  {
    return s_values[k * system::E];
  }
  __device__ __forceinline__ double &entry(int half, int at) const
  {
    return *(double *)((char *)s_values + s_places[(half * system::ALL + at) * system::LANES]);
  }
  /// 1 / (root_i root_j).
  __device__ __forceinline__ double per_roots(kg_half_mode mode) const
  {
    return s_constants[mode.i] * s_constants[mode.j];
  }
  /// The constants of the element, which the warp may read after __syncwarp().
  __device__ __forceinline__ void put_constants(const kg_parallelogram &c) const
  {
    if (q != 0) return;
    value(system::ZERO) = 0.0;
    value(system::ONE) = 1.0;
#pragma unroll
    for (int k = 0; k < KG_HALF_TERMS; ++k) value(system::TERMS + k) = c.term[k];
    value(system::MASS) = c.mass;
  }
  /// The values of a half, of its modes (i, j): i + j is even or odd.
  __device__ __forceinline__ void put_values(int half) const
  {
    constexpr int m = system::m, TRACE = system::TRACE;
    const double *const per_root = s_constants, *const sums = s_constants + m;
    const double g_r = value(system::TERMS), g_s = value(system::TERMS + 2);
    const double t_0 = value(system::TERMS + 3), t_1 = value(system::TERMS + 4);
    const double mass = value(system::MASS);
    for (int k = q; k < kg_half_modes(m, half); k += system::LANES) {
      const int at = 2 * k + (m % 2 == 1 ? half : (2 * k / m + half) % 2), i = at / m, j = at % m;
      const double per_i = per_root[i] * per_root[i], per_j = per_root[j] * per_root[j];
      const double r = fma(g_r, sums[i], t_1) * per_j, s = fma(g_s, sums[j], t_0) * per_i;
      value(system::ALONG_R + k) = r;
      value(system::ALONG_S + k) = s;
      value(system::DIAGONAL + k) = fma(mass, per_i * per_j, r + s);
    }
    for (int k = q; k < TRACE; k += system::LANES) {
      const int j = k % m;
      const double sum = sums[m + (j + half) % 2], per_j = per_root[j] * per_root[j];
      value(system::TRACES + k) = per_j * (k < m ? fma(g_s, sum, t_0) : fma(g_r, sum, t_1));
    }
  }
  /// The right hand sides, from those of modes.
  template <class Right>
  __device__ __forceinline__ void put_right(const Right &right) const
  {
    for (int k = q; k < system::m * system::m; k += system::LANES) {
      const kg_half_mode mode = {k / system::m, k % system::m};
      value(system::LOAD + kg_half_mode_number(mode)) = per_roots(mode) * right(mode);
    }
  }
  __device__ __forceinline__ void build_rows(int half, double (&a)[system::ENTRIES]) const
  {
#pragma unroll
    for (int at = 0; at < system::ENTRIES; ++at) a[at] = entry(half, at);
  }
  /// The lane's row behind the right hand side.
  __device__ __forceinline__ void build_row(int half, double (&x)[system::BEHIND]) const
  {
#pragma unroll
    for (int j = 0; j < system::BEHIND; ++j) x[j] = entry(half, system::ENTRIES + j);
  }
  /// Less what the pivots take of it, once the warp may read L.
  __device__ __forceinline__ void reduce_row(double (&x)[system::BEHIND]) const
  {
    constexpr int N = system::N, PIVOTS = system::PIVOTS, LANES = system::LANES, E = system::E;
#pragma unroll
    for (int k = 0; k < PIVOTS; ++k)
#pragma unroll
      for (int p = k / 2; p <= N / 2; ++p) {
        const double2 l = this->l_pair(2 * p, k);
        if (p == k / 2) x[k] *= k % 2 == 0 ? l.x : l.y;
        if (2 * p > k) x[2 * p] = fma(-l.x, x[k], x[2 * p]);
        if (2 * p + 1 > k && 2 * p + 1 <= N) x[2 * p + 1] = fma(-l.y, x[k], x[2 * p + 1]);
      }
    // Columns of all lanes in the place of L, which nobody reads any more.
    static_assert(PIVOTS * LANES <= 2 * system::PAIRS, "they have room there");
    __syncwarp();
#pragma unroll
    for (int k = 0; k < PIVOTS; ++k)
      ((double *)(s_l + (k * LANES / 2 + q / 2) * E + e))[q % 2] = x[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < PIVOTS; ++k)
#pragma unroll
      for (int p = 0; p < LANES / 2; ++p) {
        const double2 w = s_l[(k * LANES / 2 + p) * E + e];
        x[N + 1 + 2 * p] = fma(-w.x, x[k], x[N + 1 + 2 * p]);
        x[N + 2 + 2 * p] = fma(-w.y, x[k], x[N + 2 + 2 * p]);
      }
    __syncwarp();
  }
};

}  // namespace kg

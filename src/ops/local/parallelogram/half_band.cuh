// half_band.cuh: the systems of halves by a few lanes of a warp for every element, as matrices of a
// narrow band. In place of the modes L_i(r) L_j(s) unknowns belong to the products
//
//   v_i(r) v_j(s),  v_i = l_i - l_(i + 2) for u, l_i - l_(i - 2) for u*,  l_i = L_i / root_i
//
// of a half, where an l that is no mode is left out. The derivative of v_i (for u the weak one) is
// a multiple of one L_k alone, k = i + 1 or i - 1, and the last v_i of each parity alone has a
// value on facets. So, of factors along r and s, a half is
//
//   G_rr D W + G_ss W D + c J W W + G_rs (B B^T + B^T B)
//
//   D  products of derivatives  diagonal: g_i, and t_1 (along s: t_0) for the values on facets
//   W  products of the v_i      w_ii and w_(i, i - 2)
//   B  derivatives times v_i    b_(i, i + 1) = 1, b_(i, i - 1) = -b_i, b_i 1 or 0; u*: transposed
//
// Unknown (i, j) is row (j m + i) / 2. Entries of a row are then 1, m - 1, m, m + 1 and, of G_rs,
// about m / 2 places before its diagonal: a band of m + 1 in place of m^2 / 2 columns.
//
// A = L L^T goes column after column. Lane q has rows q, LANES + q, ... in registers, those alone
// that the band reaches (`window`); columns of L take the place of A in shared memory, where all
// lanes see them. Behind a column stands the right hand side of its row, then y = L^-1 x.
//
// Layout  band of a warp [column][pair of i - column][element], 1 / L_kk on the diagonal; right
//         hand sides and unknowns [half][row][element]
#pragma once
#include "ops/local/parallelogram/parallelogram.h"
#include "ops/local/triangle/lane_rows.cuh"

namespace kg
{

/// Sizes and constants of a half: of m x m modes of u or, with STAR, of u*, whose constant is a row
/// of one.
template <bool STAR_, int m_, int LANES_>
struct half_band {
  static constexpr bool STAR = STAR_;
  static constexpr int m = m_, LANES = LANES_, E = 32 / LANES;
  static constexpr int N = (m * m + 1) / 2, BAND = STAR ? m : m + 1;  // u* has no mass
  static constexpr int RIGHT = BAND + 1, PAIRS = RIGHT / 2 + 1;
  static constexpr int FACTORS = 2 * N * PAIRS;  ///< doubles of an element
  static constexpr int VALUES = KG_HALF_TERMS + 1 + 2 * N;
  /// Rows of LANES that LANES columns reach, and their columns from the first of these on.
  static constexpr int WINDOW = (LANES - 1 + BAND) / LANES + 1, WIDTH = LANES + BAND;
  /// Numbers of all elements, [k]: w_kk, w_(k, k - 2), g_k and 1 / root_k, zero beyond the modes.
  static constexpr int KS = m + 2, CONSTANTS = 4 * KS;

  static __host__ __device__ constexpr int begin(int w)
  {
    return LANES * w > BAND ? LANES * w - BAND : 0;
  }
  static __host__ __device__ constexpr int end(int w)
  {
    return LANES * (w + 1) < WIDTH ? LANES * (w + 1) : WIDTH;
  }
  /// Whether v_k has its second term, and b_k.
  static __device__ __forceinline__ bool is_difference(int k)
  {
    return STAR ? k >= 2 : k + 2 < m;
  }
  static __device__ __forceinline__ double b(int k)
  {
    return k == (STAR ? 1 : m - 1) ? 0.0 : 1.0;
  }
  static __device__ __forceinline__ void stage_constants(const double *root, double *s_constants)
  {
    for (int k = threadIdx.x; k < KS; k += blockDim.x) {
      const int other = STAR ? k - 2 : k + 2;
      const double own = 1.0 / (2 * k + 1), both = 1.0 / (2 * other + 1);
      // The squares of the roots between, of all that a mode of this parity has above.
      double g = 2 * k + (STAR ? -1 : 3);
      if (STAR && k == 0) g = 0.0;
      s_constants[k] = k >= m ? 0.0 : is_difference(k) ? own + both : own;
      s_constants[KS + k] = k < 2 || k >= m ? 0.0 : STAR ? -both : -own;
      s_constants[2 * KS + k] = k < m ? g : 0.0;
      s_constants[3 * KS + k] = k < m ? 1.0 / root[k] : 0.0;
    }
  }
  static __device__ __forceinline__ int row_of(kg_half_mode mode)
  {
    return (mode.j * m + mode.i) / 2;
  }
  /// The mode of a row; j = m where a half has fewer.
  static __device__ __forceinline__ kg_half_mode mode_of(int half, int row)
  {
    const int t = 2 * row + (m % 2 == 1 ? half : 0), j = t / m;
    return {t % m + (m % 2 == 0 ? (j + half) % 2 : 0), j};
  }
};

/// A warp at its elements.
template <class band>
struct band_lanes : lane_place<band::LANES> {
  using lane_place<band::LANES>::q, lane_place<band::LANES>::e, lane_place<band::LANES>::E;
  static constexpr int m = band::m, N = band::N, BAND = band::BAND, LANES = band::LANES;
  static constexpr int RIGHT = band::RIGHT, PAIRS = band::PAIRS, WINDOW = band::WINDOW;
  const double *s_constants;
  double *s_band, *s_values;  ///< of the element
  int own[2];                 ///< entries q and q + 1 of a column

  __device__ __forceinline__ band_lanes(const double *constants, double *factors, double *values)
      : s_constants(constants),
        s_band(factors + 2 * e),
        s_values(values + e),
        own{q / 2 * (2 * E) + q % 2, (q + 1) / 2 * (2 * E) + (q + 1) % 2}
  {
  }
  /// The pair of entries 2 p and 2 p + 1 below the diagonal of a column.
  __device__ __forceinline__ double2 &pair(int column, int p) const
  {
    return *(double2 *)(s_band + (column * PAIRS + p) * 2 * E);
  }
  /// Entry d below the diagonal of a column.
  __device__ __forceinline__ double &at(int column, int d) const
  {
    return s_band[(column * PAIRS + d / 2) * 2 * E + d % 2];
  }
  /// Entry d + q, d known to the compiler.
  __device__ __forceinline__ double &own_at(int column, int d) const
  {
    return s_band[(column * PAIRS + (d >> 1)) * 2 * E + own[d & 1]];
  }
  __device__ __forceinline__ double &term(int k) const
  {
    return s_values[k * E];
  }
  __device__ __forceinline__ double &value(int half, int row) const
  {
    return s_values[(KG_HALF_TERMS + 1 + half * N + row) * E];
  }
  __device__ __forceinline__ double per_roots(kg_half_mode mode) const
  {
    return s_constants[3 * band::KS + mode.i] * s_constants[3 * band::KS + mode.j];
  }
  /// The constants of the element, which the warp may read after __syncwarp().
  __device__ __forceinline__ void put_constants(const kg_parallelogram &c) const
  {
    if (q != 0) return;
#pragma unroll
    for (int k = 0; k < KG_HALF_TERMS; ++k) term(k) = c.term[k];
    term(KG_HALF_TERMS) = c.mass;
  }
  /// The right hand sides, from those of modes.
  template <class Right>
  __device__ __forceinline__ void put_right(const Right &right) const
  {
    for (int k = q; k < m * m; k += LANES) {
      const kg_half_mode mode = {k / m, k % m};
      value((mode.i + mode.j) % 2, band::row_of(mode)) = per_roots(mode) * right(mode);
    }
  }
  /// A value less those of the modes next to it, `step` rows away along r and m times as many along
  /// s.
  __device__ __forceinline__ double difference(int half, int row, bool along_r, bool along_s,
                                               int step) const
  {
    double sum = value(half, row);
    if (along_r) sum -= value(half, row + step);
    if (along_s) sum -= value(half, row + m * step);
    if (along_r && along_s) sum += value(half, row + (m + 1) * step);
    return sum;
  }
  /// Calls take(mode, coefficient).
  template <class Take>
  __device__ __forceinline__ void take_unknowns(const Take &take) const
  {
    constexpr int step = band::STAR ? 1 : -1;  // an L is in its v and in the one next to it
    for (int k = q; k < m * m; k += LANES) {
      const kg_half_mode mode = {k / m, k % m};
      const bool along_r = band::STAR ? mode.i + 2 < m : mode.i >= 2;
      const bool along_s = band::STAR ? mode.j + 2 < m : mode.j >= 2;
      take(mode, per_roots(mode) *
                     difference((mode.i + mode.j) % 2, band::row_of(mode), along_r, along_s, step));
    }
  }
  /// A row of a half and its right hand side. Where there is no mode, or the constant of u*, the
  /// diagonal is one.
  __device__ __forceinline__ void put_row(int half, int row) const
  {
    const double *const w = s_constants, *const before = w + band::KS, *const g = before + band::KS;
    const auto [i, j] = band::mode_of(half, row);
    const double mass = band::STAR ? 0.0 : term(KG_HALF_TERMS);
    double g_i = term(0) * g[i], g_j = term(2) * g[j];
    if (!band::STAR && !band::is_difference(i)) g_i += term(4);
    if (!band::STAR && !band::is_difference(j)) g_j += term(3);
    const double in_j = fma(mass, w[j], j < m ? g_j : 0.0), in_i = fma(mass, w[i], g_i);
    const double diagonal = fma(g_i, w[j], w[i] * in_j);
    const auto put = [&](int d, double entry) {
      if (d <= row) at(row - d, d) = entry;
    };
    put(0, diagonal == 0.0 ? 1.0 : diagonal);
    put(1, before[i] * in_j);
    put(m, before[j] * in_i);
    put(m - 1, mass * before[i + 2] * before[j]);
    if (!band::STAR) put(m + 1, mass * before[i] * before[j]);
    if (j > 0 && j < m) {
      const int mixed = row - ((j - 1) * m + i + 1) / 2;  // of (i + 1, j - 1)
      if (i + 1 < m) put(mixed, fma(term(1), band::b(i + 1) * band::b(j), term(1)));
      if (i > 0) put(mixed + 1, -term(1) * (band::b(i) + band::b(j)));
    }
    at(row, RIGHT) = j == m ? 0.0
                            : difference(half, row, band::is_difference(i), band::is_difference(j),
                                         band::STAR ? -1 : 1);
  }
  /// A half in the place of L.
  __device__ __forceinline__ void put_half(int half) const
  {
    for (int t = q; t < N * PAIRS; t += LANES)
      *(double2 *)(s_band + t * 2 * E) = make_double2(0.0, 0.0);
    __syncwarp();
    for (int row = q; row < N; row += LANES) put_row(half, row);
  }

  /// Rows of the lane from column `first` on, a[w] that of LANES w + q rows below it.
  struct window {
    double a[WINDOW][band::WIDTH], x[WINDOW];
  };
  /// The window LANES columns on, or the first.
  template <bool FIRST>
  __device__ __forceinline__ void advance(int first, window &rows) const
  {
#pragma unroll
    for (int w = 0; w < WINDOW; ++w) {
      const bool is_row = first + LANES * w + q < N;
#pragma unroll
      for (int c = 0; c < band::WIDTH; ++c) {
        if (c < band::begin(w) || c >= band::end(w)) continue;
        if (!FIRST && w + 1 < WINDOW && c + LANES < band::end(w + 1)) {
          rows.a[w][c] = rows.a[w + 1][c + LANES];
        } else {
          const int d = LANES * w - c;
          rows.a[w][c] = is_row && d + q >= 0 && d + q <= BAND ? own_at(first + c, d) : 0.0;
        }
      }
      if (!FIRST && w + 1 < WINDOW)
        rows.x[w] = rows.x[w + 1];
      else
        rows.x[w] = is_row ? at(first + LANES * w + q, RIGHT) : 0.0;
    }
  }
  /// Column first + k, as pivot and the entry below it are found in it.
  __device__ __forceinline__ void eliminate(int first, int k, window &rows, double &pivot,
                                            double &below) const
  {
    const double root = reciprocal_root(pivot), l_first = below * root;
    double column[WINDOW];
#pragma unroll
    for (int w = 0; w < WINDOW; ++w) {
      const int d = LANES * w - k;
      column[w] = k < band::begin(w) ? 0.0 : rows.a[w][k] * root;
      if (k >= band::begin(w) && d + q > 0 && d + q <= BAND) own_at(first + k, d) = column[w];
      if (k >= band::begin(w) && k + 1 < band::end(w))
        rows.a[w][k + 1] = fma(-column[w], l_first, rows.a[w][k + 1]);
    }
    if (q == k) {
      at(first + k, 0) = root;
      at(first + k, RIGHT) = rows.x[0] * root;
    }
    pivot = this->from_row(k + 1, rows.a[(k + 1) / LANES][k + 1]);
    below = this->from_row(k + 2, rows.a[(k + 2) / LANES][k + 1]);
    __syncwarp();
#pragma unroll
    for (int p = 1; p < PAIRS; ++p) {
      const double2 l = pair(first + k, p);
#pragma unroll
      for (int w = 0; w < WINDOW; ++w)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int d = 2 * p + h, j = k + d;
          const double entry = h == 0 ? l.x : l.y;
          if (k >= band::begin(w) && d == RIGHT) rows.x[w] = fma(-entry, column[w], rows.x[w]);
          if (k >= band::begin(w) && d < RIGHT && j >= band::begin(w) && j < band::end(w))
            rows.a[w][j] = fma(-entry, column[w], rows.a[w][j]);
        }
    }
  }
  __device__ __forceinline__ void factor() const
  {
    window rows;
    advance<true>(0, rows);
    double pivot = this->from_row(0, rows.a[0][0]), below = this->from_row(1, rows.a[0][0]);
#pragma unroll 1
    for (int first = 0;;) {
#pragma unroll
      for (int k = 0; k < LANES; ++k)
        if (N % LANES == 0 || first + k < N) eliminate(first, k, rows, pivot, below);
      first += LANES;
      if (first >= N) return;
      advance<false>(first, rows);
    }
  }
  /// x = L^-T y: every lane of an element does the same.
  __device__ __forceinline__ void substitute(int half) const
  {
    constexpr int STEPS = 8;
    double z[STEPS + BAND] = {};  // from column `first` on
#pragma unroll 1
    for (int first = (N - 1) / STEPS * STEPS; first >= 0; first -= STEPS) {
#pragma unroll
      for (int k = STEPS - 1; k >= 0; --k) {
        if (N % STEPS != 0 && first + k >= N) continue;
        double2 l[PAIRS];
#pragma unroll
        for (int p = 0; p < PAIRS; ++p) l[p] = pair(first + k, p);
        double sum = RIGHT % 2 == 0 ? l[PAIRS - 1].x : l[PAIRS - 1].y;
#pragma unroll
        for (int d = BAND; d > 0; --d)
          sum = fma(d % 2 == 0 ? -l[d / 2].x : -l[d / 2].y, z[k + d], sum);
        z[k] = sum * l[0].x;
        if (q == k % LANES) value(half, first + k) = z[k];
      }
#pragma unroll
      for (int d = BAND - 1; d >= 0; --d) z[d + STEPS] = z[d];
    }
  }
  /// The unknowns of both halves in place of the right hand sides, which the warp can read.
  __device__ __forceinline__ void solve() const
  {
#pragma unroll 1
    for (int half = 0; half < KG_HALVES; ++half) {
      put_half(half);
      __syncwarp();
      factor();
      __syncwarp();
      substitute(half);
      __syncwarp();
    }
  }
};

}  // namespace kg

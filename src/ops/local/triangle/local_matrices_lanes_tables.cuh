// local_matrices_lanes_tables.cuh: how the kernel of local_matrices_lanes.cu deals an element out
// to three or six lanes of a warp, and what it reads of the reference matrices, in the order in
// which lanes need it.
//
// The modes of degree P are eliminated by hand (docs/math.md#by-hand), K are left. Lane q of an
// element has rows q, LANES + q, ... of what is left of Z^-1, and columns of R that belong to side
// q % 3: all, or of two lanes a side the first half or the others. Modes come in an order of their
// own: as many of one parity along the base of the reference triangle as there are lanes stand
// together, so that the lanes mostly read the same of the reference matrices that make Z^-1.
#pragma once
#include "device/cuda_rt.h"
#include "ops/local/triangle/lane_rows.cuh"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/mode_parity.cuh"

namespace kg
{

/// Order P: PER_SIDE lanes a side, one or two; WARPS warps a block, one block a multiprocessor.
template <int P_, int PER_SIDE_, bool REDUCED_, int WARPS_, bool TOGETHER_>
struct lanes_shape {
  static constexpr bool REDUCED = REDUCED_;  ///< K^e are made reduced: without mode 0 of the edges
  /// Warps wait for each other before new elements: without it some of many run far ahead of the
  /// others, and the L2 cache writes sectors to memory that have only a part of their numbers.
  static constexpr bool TOGETHER = TOGETHER_;
  static constexpr int P = P_, WARPS = WARPS_, PER_SIDE = PER_SIDE_;
  static constexpr int LANES = 3 * PER_SIDE, E = 32 / LANES;  ///< of an element; elements of a warp
  /// Elements that have a place in shared memory: the last two lanes of a warp, which are too few
  /// for an element, do as the others do and nobody reads it.
  static constexpr int SLOTS = E + 1;
  static constexpr int m = P + 1, n = 3 * m, K = P * m / 2, N = K + m;
  using rows = lane_rows<K, LANES>;
  static constexpr int FIRST = REDUCED ? 1 : 0;  ///< mode of an edge
  static constexpr int COLUMNS = m - FIRST;      ///< of R, a side
  /// Columns of a lane. Where two lanes have one more than their side, the last one is zero.
  static constexpr int MINE = (COLUMNS + PER_SIDE - 1) / PER_SIDE;
  static constexpr int DEPTH = (K + PER_SIDE - 1) / PER_SIDE;  ///< rows of W that a lane multiplies
  static constexpr int TRACES = 3 * COLUMNS;                   ///< all
  /// The products of a side's columns with the first SPLIT of them are formed first, then the
  /// others: all at once are too many for the registers.
  static constexpr int SPLIT = COLUMNS < 7 ? COLUMNS : 2;
  static constexpr int OWN = COLUMNS * (COLUMNS + 1) / 2;   ///< products of a side's columns
  static constexpr int PRODUCTS = OWN + COLUMNS * COLUMNS;  ///< and with those of the next side
  static constexpr int RESULTS = (REDUCED ? KG_REDUCED_FLUX : 0) + TRACES * (TRACES + 1) / 2;

  /// Mode `count` of a parity along the base; modes of one degree follow each other.
  static __host__ __device__ constexpr int mode_of_parity(bool odd, int count)
  {
    int mode = 0;
    while (mode_along(mode) % 2 != odd || count-- > 0) ++mode;
    return mode;
  }
  /// The mode in place k < K: LANES of one parity, those of lower degree first; then what is left.
  static __host__ __device__ constexpr int mode_at(int k)
  {
    constexpr int even_all = even_modes(K), odd_all = K - even_all;
    int even = 0, odd = 0;
    for (int at = 0;; at += LANES) {
      const bool whole_even = even + LANES <= even_all, whole_odd = odd + LANES <= odd_all;
      if (!whole_even && !whole_odd) {
        const int left = even_all - even;
        return k - at < left ? mode_of_parity(false, even + k - at)
                             : mode_of_parity(true, odd + k - at - left);
      }
      const bool take_odd =
          !whole_even || (whole_odd && mode_of_parity(true, odd) < mode_of_parity(false, even));
      if (k - at < LANES) return mode_of_parity(take_odd, (take_odd ? odd : even) + k - at);
      (take_odd ? odd : even) += LANES;
    }
  }
  struct mode_list {
    int at[N];
  };
  /// The modes in all places; those of degree P follow.
  static __host__ __device__ constexpr mode_list modes()
  {
    mode_list list = {};
    for (int k = 0; k < N; ++k) list.at[k] = k < K ? mode_at(k) : k;
    return list;
  }
  /// The places of all modes.
  static __host__ __device__ constexpr mode_list places()
  {
    mode_list list = {};
    for (int k = 0; k < N; ++k) list.at[modes().at[k]] = k;
    return list;
  }
  /// Bit k: the mode in place k is odd.
  static __host__ __device__ constexpr unsigned odd_places()
  {
    unsigned bits = 0;
    for (int k = 0; k < K; ++k) bits |= (unsigned)(mode_along(mode_at(k)) % 2) << k;
    return bits;
  }
  static constexpr unsigned ODD = odd_places();
  static_assert(K <= 32, "a bit for each mode");
  /// Whether the lanes' rows r are all of one parity.
  static __host__ __device__ constexpr bool uniform(int r)
  {
    const unsigned all = (1u << (rows::end(r) - LANES * r)) - 1, bits = ODD >> LANES * r & all;
    return bits == 0 || bits == all;
  }
  /// Column c of a lane, of those of its side.
  static __host__ __device__ constexpr int column(int half, int c)
  {
    return half * MINE + c;
  }
  /// Whether mode i and that of column c of its edge are of one parity.
  static __host__ __device__ constexpr bool alike(int i, int c)
  {
    return (mode_along(i) + c + FIRST) % 2 == 0;
  }
  /// Product of column c of a side with its column `other` <= c: row by row, those with the first
  /// SPLIT columns in front.
  static __host__ __device__ constexpr int own(int c, int other)
  {
    const int rest = c - SPLIT, whole = SPLIT * (SPLIT + 1) / 2;
    if (rest < 0) return c * (c + 1) / 2 + other;
    if (other < SPLIT) return whole + rest * SPLIT + other;
    return whole + (COLUMNS - SPLIT) * SPLIT + rest * (rest + 1) / 2 + other - SPLIT;
  }
  /// Product of column c of a side with column `other` of the next side.
  static __host__ __device__ constexpr int next(int c, int other)
  {
    return OWN + other * COLUMNS + c;
  }
};

/// Factors of R and S0 as a side sees them. They are a parameter of the kernel, so that they become
/// operands: the reference triangle is the same seen from each of its edges
/// (docs/math.md#from-each-side). Rows of R are divided by their one number of F_0.
template <class shape>
struct lanes_side_table {
  /// Ds F_0 where mode and column are of one parity, else Dr F_0; B_1 F_p0.
  double derivative[shape::K][shape::COLUMNS], eliminated[shape::K][shape::COLUMNS];
  /// F_l^T F_l, packed; F_l^T F_l+1, and of it the modes of degree P.
  double own[shape::OWN], next[shape::COLUMNS][shape::COLUMNS], top[shape::COLUMNS][shape::COLUMNS];

  explicit lanes_side_table(const kg_reference &ref)
  {
    constexpr int FIRST = shape::FIRST, m = shape::m, n = shape::n;
    for (int i = 0; i < shape::K; ++i)
      for (int c = 0; c < shape::COLUMNS; ++c) {
        const int at = i * n + c + FIRST;
        const double per_edge = 1.0 / ref.lift[i * n + mode_along(i)];
        derivative[i][c] = per_edge * (shape::alike(i, c) ? ref.lift_s : ref.lift_r)[at];
        eliminated[i][c] = per_edge * ref.eliminated_lift[0][at];
      }
    for (int c = 0; c < shape::COLUMNS; ++c)
      for (int other = 0; other < shape::COLUMNS; ++other) {
        const int at = kg_packed_entry(c + FIRST, m + other + FIRST);
        next[c][other] = ref.trace_mass[at];
        top[c][other] = ref.trace_top[at];
        if (other <= c)
          own[shape::own(c, other)] = ref.trace_mass[kg_packed_entry(c + FIRST, other + FIRST)];
      }
  }
};

/// Shared by a block. [LANES]: the lanes of an element.
template <class shape>
struct lanes_tables {
  /// stiffness 1, edge mass 1; eliminated 0, stiffness 2; edge mass 0, eliminated 1. For modes of
  /// different parity all but the first three are zero.
  double2 z_inverse[shape::rows::ENTRIES][3][shape::LANES];
  double edge[shape::K][shape::P][3];  ///< F, column by column of the side
  /// Derivative and eliminated of lanes_side_table for a lane that has half the columns: the halves
  /// of a side differ, so that these are no operands.
  double2 column[shape::PER_SIDE > 1 ? shape::K : 1][shape::MINE][shape::PER_SIDE];
  /// Between row r of a lane and the modes of degree P: edge mass 1, edge mass 0
  double2 top[shape::rows::ROWS][shape::m][shape::LANES];
  double edge_top[shape::m][shape::MINE][shape::LANES];  ///< F of the modes of degree P
  double mean[3][3];  ///< [mode of the element][side]: of the functions p_l of reduced K^e
  /// [product][side]: bytes from the first row of K^e of an element to the entry of the product;
  /// the last product is read but not used.
  unsigned to[3 * (shape::PRODUCTS + 1)];
  int mode[shape::N];  ///< in place k
};

/// Shared memory of a warp.
template <class shape>
struct lanes_memory {
  double2 l[shape::rows::PAIRS][shape::SLOTS];  ///< 1 / L_jj on the diagonal
  double2 corner[3][shape::SLOTS];
  double load[shape::N][shape::SLOTS];  ///< f, then what is left of it
};

/// The shared memory of a block.
template <class shape>
struct lanes_block {
  lanes_tables<shape> tables;
  lanes_memory<shape> memory[1];  ///< [warp]
};

template <class shape>
__device__ void fill_rows(lanes_tables<shape> &s, const kg_reference &ref)
{
  constexpr int LANES = shape::LANES, K = shape::K;
  for (int r = 0; r < shape::rows::ROWS; ++r)
    for (int x = threadIdx.x; x < shape::rows::end(r) * LANES; x += blockDim.x) {
      const int j = x / LANES, q = x % LANES, i = LANES * r + q;
      double2 terms[3] = {};
      if (j <= i && i < K) {
        const int at = kg_packed_entry(s.mode[i], s.mode[j]);
        terms[0] = make_double2(ref.stiffness[1][at], ref.edge_mass[1][at]);
        terms[1].x = ref.eliminated[0][at];
        if (is_odd_mode(s.mode[i]) == is_odd_mode(s.mode[j])) {
          terms[1].y = ref.stiffness[2][at];
          terms[2] = make_double2(ref.edge_mass[0][at], ref.eliminated[1][at]);
        }
      }
      for (int t = 0; t < 3; ++t) s.z_inverse[shape::rows::entry(r, j)][t][q] = terms[t];
    }
  for (int x = threadIdx.x; x < shape::rows::ROWS * shape::m * LANES; x += blockDim.x) {
    const int r = x / (shape::m * LANES), top = x / LANES % shape::m, q = x % LANES;
    const int i = LANES * r + q, at = i < K ? kg_packed_entry(K + top, s.mode[i]) : 0;
    s.top[r][top][q] = make_double2(ref.edge_mass[1][at], ref.edge_mass[0][at]);
  }
}

template <class shape>
__device__ void fill_columns(lanes_tables<shape> &s, const kg_reference &ref,
                             const lanes_side_table<shape> &table)
{
  constexpr int LANES = shape::LANES, MINE = shape::MINE, COLUMNS = shape::COLUMNS;
  constexpr int n = shape::n, m = shape::m;
  for (int x = threadIdx.x; x < shape::K * shape::P * 3; x += blockDim.x) {
    const int k = x / (shape::P * 3), j = x / 3 % shape::P, l = x % 3;
    s.edge[k][j][l] = ref.lift[s.mode[k] * n + l * m + j];
  }
  for (int x = threadIdx.x; x < m * MINE * LANES; x += blockDim.x) {
    const int p = x / (MINE * LANES), c = x / LANES % MINE, q = x % LANES;
    const int column = shape::column(q / 3, c), at = q % 3 * m + shape::FIRST + column;
    s.edge_top[p][c][q] = column < COLUMNS ? ref.lift[(shape::K + p) * n + at] : 0.0;
  }
  if (shape::PER_SIDE > 1)
    for (int x = threadIdx.x; x < shape::K * 2 * MINE; x += blockDim.x) {
      const int i = x / (2 * MINE), c = x / 2 % MINE, half = x % 2, column = shape::column(half, c);
      s.column[i][c][half] =
          column < COLUMNS ? make_double2(table.derivative[i][column], table.eliminated[i][column])
                           : make_double2(0.0, 0.0);
    }
  for (int x = threadIdx.x; x < 9; x += blockDim.x)
    s.mean[x / 3][x % 3] = ref.lift[x / 3 * n + x % 3 * m] * (1.0 / 3.0);
}

/// The row of K^e of mode i of side l and mode j of side k.
template <class shape>
__device__ int row_of(int l, int i, int k, int j)
{
  const int a = l * shape::m + i, b = k * shape::m + j;
  return shape::REDUCED ? kg_reduced_row(shape::m, a, b) : kg_packed_entry(a, b);
}

/// All threads of a block copy the tables.
template <class shape>
__device__ void fill_tables(lanes_tables<shape> &s, const kg_reference &ref,
                            const lanes_side_table<shape> &table)
{
  constexpr int COLUMNS = shape::COLUMNS, FIRST = shape::FIRST;
  static constexpr auto modes = shape::modes();
  for (int k = threadIdx.x; k < shape::N; k += blockDim.x) s.mode[k] = modes.at[k];
  __syncthreads();
  fill_rows<shape>(s, ref);
  fill_columns<shape>(s, ref, table);
  constexpr unsigned ROW_BYTES = KG_LANES * sizeof(double);
  for (int x = threadIdx.x; x < COLUMNS * COLUMNS * 3; x += blockDim.x) {
    const int c = x / 3 / COLUMNS, other = x / 3 % COLUMNS, l = x % 3;
    const int i = c + FIRST, j = other + FIRST;
    s.to[3 * shape::next(c, other) + l] = ROW_BYTES * row_of<shape>(l, i, (l + 1) % 3, j);
    if (other <= c) s.to[3 * shape::own(c, other) + l] = ROW_BYTES * row_of<shape>(l, i, l, j);
  }
  __syncthreads();
}

}  // namespace kg

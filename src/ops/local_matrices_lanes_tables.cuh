// local_matrices_lanes_tables.cuh: how the kernel of local_matrices_lanes.cuh deals an element out to a
// few lanes of a warp, and what it reads of the reference matrices, in the order in which lanes need it.
//
// Lane q of an element has rows q, LANES + q, ... of Z^-1 and columns COLUMNS q ... of [R, f]. Modes
// come in an order of their own: LANES modes of one parity along the base of the reference triangle
// stand together, so that the lanes of an element read the same of the four reference matrices that
// make Z^-1 (docs/math.md#local-solve).
#pragma once
#include "backend/cuda_rt.h"
#include "ops/local_matrices.h"

namespace kg
{

/// Order P: LANES lanes an element, WARPS warps a block, one block a multiprocessor.
template <int P_, bool REDUCED_, int LANES_, int WARPS_, bool LONG_>
struct lanes_shape {
  static constexpr bool REDUCED = REDUCED_;  ///< K^e are made reduced: without mode 0 of the edges
  /// Of so much code and so many registers that warps wait for each other before new elements, to fetch
  /// instructions together, and remember in shared memory where they are.
  static constexpr bool LONG = LONG_;
  static constexpr int P = P_, LANES = LANES_, WARPS = WARPS_, E = 32 / LANES, HALF = LANES / 2;
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int FIRST = REDUCED ? 1 : 0;                ///< mode of an edge
  static constexpr int MODES = m - FIRST, TRACES = 3 * MODES;  ///< columns of R: of an edge, all
  /// Rows of K^e.
  static constexpr int RESULTS = (REDUCED ? KG_REDUCED_FLUX : 0) + TRACES * (TRACES + 1) / 2;
  static constexpr int COLUMNS = TRACES / LANES + 1;  ///< of [R, f], some beyond it, a lane
  static constexpr int LOAD = TRACES - COLUMNS * (LANES - 1);  ///< that of f, of the last lane
  static constexpr int ROWS = (N + LANES - 1) / LANES;         ///< of Z^-1, some beyond it, a lane
  static constexpr int ENTRIES = LANES * ROWS * (ROWS - 1) / 2 + N;  ///< of those rows
  static_assert(LOAD >= 0 && LOAD < COLUMNS, "the last lane has f");

  /// Entries of row r of a lane: up to the diagonal in the last of the lanes.
  static __host__ __device__ constexpr int end(int r)
  {
    return r < ROWS - 1 ? LANES * (r + 1) : N;
  }
  /// Entry j of row r of a lane, among its ENTRIES.
  static __host__ __device__ constexpr int entry(int r, int j)
  {
    return LANES * r * (r + 1) / 2 + j;
  }
  /// Mode `count` of a parity along the base; modes of one degree follow each other.
  static __host__ __device__ constexpr int mode_of_parity(bool odd, int count)
  {
    for (int degree = 0, mode = 0; degree <= P; ++degree)
      for (int i = 0; i <= degree; ++i, ++mode)
        if ((i % 2 == 1) == odd && count-- == 0) return mode;
    return N;
  }
  static __host__ __device__ constexpr bool is_odd(int mode)
  {
    int degree = 0;
    while ((degree + 1) * (degree + 2) / 2 <= mode) ++degree;
    return (mode - degree * (degree + 1) / 2) % 2 == 1;
  }
  /// The mode in place k: LANES of one parity, those of lower degree first; then what is left.
  static __host__ __device__ constexpr int mode_at(int k)
  {
    constexpr int odd_modes = m / 2 * ((m + 1) / 2), even_modes = N - odd_modes;
    int even = 0, odd = 0;
    for (int at = 0;; at += LANES) {
      const bool whole_even = even + LANES <= even_modes, whole_odd = odd + LANES <= odd_modes;
      if (!whole_even && !whole_odd) {
        const int left = even_modes - even;
        return k - at < left ? mode_of_parity(false, even + k - at)
                             : mode_of_parity(true, odd + k - at - left);
      }
      const bool take_odd =
          !whole_even || (whole_odd && mode_of_parity(true, odd) < mode_of_parity(false, even));
      if (k - at < LANES) return mode_of_parity(take_odd, (take_odd ? odd : even) + k - at);
      (take_odd ? odd : even) += LANES;
    }
  }
  /// The place of a mode.
  static __host__ __device__ constexpr int place_of(int mode)
  {
    int k = 0;
    while (mode_at(k) != mode) ++k;
    return k;
  }
  struct mode_list {
    int at[N];
  };
  static __host__ __device__ constexpr mode_list modes()
  {
    mode_list list = {};
    for (int k = 0; k < N; ++k) list.at[k] = mode_at(k);
    return list;
  }
  /// Bit k: the mode in place k is odd.
  static __host__ __device__ constexpr unsigned odd_places()
  {
    unsigned bits = 0;
    for (int k = 0; k < N; ++k) bits |= (is_odd(mode_at(k)) ? 1u : 0u) << k;
    return bits;
  }
  /// Bit k: the mode in place k is of degree P. Derivatives have no part in it: in its rows R has
  /// tau F alone, and Z^-1 the edges alone.
  static __host__ __device__ constexpr unsigned top_places()
  {
    unsigned bits = 0;
    for (int k = 0; k < N; ++k) bits |= (mode_at(k) >= P * m / 2 ? 1u : 0u) << k;
    return bits;
  }
  static constexpr unsigned ODD = odd_places(), TOP = top_places();
  static_assert(N <= 32, "a bit for each mode");
  /// The side of column c of R, f counting to the last, and its unknown on the trace. (With the condition
  /// c < 2 * MODES the compiler of CUDA 13.0 spills a hundred registers at order 5.)
  static __host__ __device__ constexpr int side(int c)
  {
    return c / MODES < 2 ? c / MODES : 2;
  }
  static __host__ __device__ constexpr int unknown(int c)
  {
    return c + FIRST * (side(c) + 1);
  }
  /// Whether rows r of all lanes are of one parity.
  static __host__ __device__ constexpr bool uniform(int r)
  {
    const unsigned all = (1u << (end(r) - LANES * r)) - 1, bits = ODD >> LANES * r & all;
    return bits == 0 || bits == all;
  }

  // L in memory: column after column, two rows side by side; of column j from row j or, where j is odd,
  // the one above.
  static constexpr int PAIRS = (N + 1) / 2 * ((N + 1) / 2 + 1) - N % 2;
  static __host__ __device__ constexpr int first_pair(int j)
  {
    const int whole = (N + 1) / 2, before = j / 2;  // columns come in twos, one pair less each time
    return 2 * before * whole - before * (before - 1) + j % 2 * (whole - before);
  }
  static __host__ __device__ constexpr int pair(int i, int j)
  {
    return first_pair(j) + i / 2 - j / 2;
  }

  // Products of columns: those of a lane with its own, with those of the lanes `distance` further
  // around the circle, and, half a circle away, half of them, because that lane does the others.
  static constexpr int OWN = COLUMNS * (COLUMNS + 1) / 2, ALL = COLUMNS * COLUMNS;
  static constexpr int PRODUCTS = 2 * OWN + (HALF - 1) * ALL;
  static __host__ __device__ constexpr bool is_half(int distance)
  {
    return distance == 0 || distance == HALF;
  }
  /// How many of those columns are taken at a time, from `other` on, so that enough sums are added up side
  /// by side. 0: those before have taken it.
  static __host__ __device__ constexpr int at_once(int distance, int other)
  {
    if (COLUMNS == 4 && REDUCED) {
      const int count = is_half(distance) ? 4 : 2;
      return other % count == 0 ? count : 0;
    }
    const bool last = other >= COLUMNS - 3 && (is_half(distance) || COLUMNS == 3);
    return !last ? 1 : other == COLUMNS - 3 ? 3 : 0;
  }
  /// Product of the lane's column c and column `other` of the lane at this distance.
  static __host__ __device__ constexpr int product(int distance, int c, int other)
  {
    const int first = distance == 0 ? 0 : OWN + (distance - 1) * ALL;
    return first + (is_half(distance) ? c * (c + 1) / 2 + other : other * COLUMNS + c);
  }
};

/// Numbers of an element that multiply reference matrices.
enum lanes_factor {
  SAME_R,     ///< stiffness 0 and
  SAME_S,     ///< stiffness 2, for modes of the same parity
  SAME_EDGE,  ///< edge mass 1, for modes of the same parity
  DIFFERENT_S,
  DIFFERENT_EDGE,
  MASS,
  TAU,
  LIFT_R = TAU + 3,
  LIFT_S = LIFT_R + 3,
  S_ZERO = LIFT_S + 3,  ///< of F^T F
  LANES_FACTORS = S_ZERO + 6
};

/// Where a product of columns goes and what of S0 belongs to it.
struct alignas(16) lanes_product {
  double mass;  ///< entry of F^T F; 0 in F^e
  unsigned to;  ///< bytes from the first entry of K^e of the group, or of F^e in shared memory
  /// High half: bytes from the factors S_ZERO to that of the pair of edges. Low half: 31 - those of the
  /// bits l for which a reversed side l changes the sign.
  unsigned what;
};

/// Shared by a block. [LANES]: the lanes of an element.
template <class shape>
struct lanes_tables {
  double2 z_inverse[shape::ENTRIES][shape::LANES][2];       ///< stiffness 0, edge mass 0; 2 and 1
  double2 lift[shape::N][shape::COLUMNS][shape::LANES][2];  ///< Dr F, Ds F; F
  lanes_product product[shape::PRODUCTS][shape::LANES];
  double mean[3][3];   ///< [side][mode of the element]: of the functions p_l of reduced K^e
  int mode[shape::N];  ///< in place k
};

/// Where a warp is.
struct lanes_turn {
  int of_block, pass;  ///< the block's first piece, and how often 32 / LANES elements of it
  int first;           ///< lane of the group
};

/// Of a warp.
template <class shape>
struct lanes_memory {
  enum { STRIDE = KG_LANES + shape::E };  ///< lanes that want different factors, different banks
  double factor[LANES_FACTORS][STRIDE];   ///< [.][lane of the group]
  double load[shape::N][shape::E];
  double2 l[shape::PAIRS][shape::E];  ///< 1 / L_jj on the diagonal; once it has been used, F^e
  /// Bit x: of the sides l whose bits l are set in x, an even number is reversed.
  unsigned even[KG_LANES];
  lanes_turn turn;
};

/// What a block has in shared memory.
template <class shape>
struct lanes_block {
  lanes_tables<shape> tables;
  lanes_memory<shape> memory[1];  ///< [warp]
};

/// The row of K^e of unknowns a >= b, and the sides whose sign it has.
template <class shape>
__device__ int2 row_and_sides(int a, int b)
{
  constexpr int m = shape::m;
  const int l = a / m, k = b / m, i = a - l * m, j = b - k * m;
  const int sides = (i & 1) << l ^ (j & 1) << k;
  if (!shape::REDUCED) return make_int2(kg_packed_entry(a, b), sides);
  return make_int2(kg_reduced_row(m, a, b), a == b && i == 1 ? 1 << l : sides);
}

template <class shape>
__device__ lanes_product product_of(const kg_reference &ref, int distance, int c, int other, int q)
{
  const int a = shape::COLUMNS * q + c;
  const int b = shape::COLUMNS * ((q + distance) % shape::LANES) + other;
  const int row = max(a, b), col = min(a, b);
  constexpr unsigned ROW_BYTES = KG_LANES * sizeof(double);
  constexpr unsigned FACTOR_BYTES = sizeof(double) * lanes_memory<shape>::STRIDE;
  if (row > shape::TRACES || col == shape::TRACES) return {0.0, 0, 31};  // goes nowhere
  const int k = shape::side(col), of_col = shape::unknown(col);
  const int odd_col = (of_col - k * shape::m) & 1;
  if (row == shape::TRACES)
    return {0.0, (unsigned)sizeof(double) * shape::E * of_col, 31u - (odd_col << k)};
  const int l = shape::side(row), edges = l * (l + 1) / 2 + k;
  const int2 to = row_and_sides<shape>(shape::unknown(row), of_col);
  return {ref.trace_mass[kg_packed_entry(shape::unknown(row), of_col)], ROW_BYTES * to.x,
          FACTOR_BYTES * edges << 16 | (31u - to.y)};
}

/// By all threads of a block.
template <class shape>
__device__ void fill_tables(lanes_tables<shape> &s, const kg_reference &ref)
{
  constexpr int LANES = shape::LANES, N = shape::N, n = shape::n, COLUMNS = shape::COLUMNS;
  const int thread = threadIdx.x, threads = blockDim.x;
  static constexpr auto modes = shape::modes();
  for (int k = thread; k < N; k += threads) s.mode[k] = modes.at[k];
  __syncthreads();
  for (int r = 0; r < shape::ROWS; ++r)
    for (int x = thread; x < shape::end(r) * LANES; x += threads) {
      const int j = x / LANES, q = x % LANES, i = LANES * r + q;
      double2 *to = s.z_inverse[shape::entry(r, j)][q];
      to[0] = to[1] = make_double2(0.0, 0.0);
      if (i < j || i >= N) continue;
      const int row = max(s.mode[i], s.mode[j]), col = min(s.mode[i], s.mode[j]);
      const int at = row * (row + 1) / 2 + col;
      to[0] = make_double2(ref.stiffness[0][at], ref.edge_mass[0][at]);
      to[1] = make_double2(ref.stiffness[2][at], ref.edge_mass[1][at]);
    }
  for (int x = thread; x < N * COLUMNS * LANES; x += threads) {
    const int k = x / (COLUMNS * LANES), c = x / LANES % COLUMNS, q = x % LANES;
    const int column = COLUMNS * q + c, at = s.mode[k] * n + shape::unknown(column);
    double2 *to = s.lift[k][c][q];
    to[0] = to[1] = make_double2(0.0, 0.0);
    if (column >= shape::TRACES) continue;
    to[0] = make_double2(ref.lift_r[at], ref.lift_s[at]);
    to[1].x = ref.lift[at];
  }
  for (int x = thread; x < 9; x += threads)  // (f, p_l) is the sum of these times load vectors
    s.mean[x / 3][x % 3] = ref.lift[x % 3 * n + x / 3 * shape::m] * (1.0 / 3.0);
  for (int distance = 0; distance <= shape::HALF; ++distance)
    for (int x = thread; x < shape::ALL * LANES; x += threads) {
      const int c = x / LANES / COLUMNS, other = x / LANES % COLUMNS, q = x % LANES;
      if (shape::is_half(distance) && other > c) continue;
      s.product[shape::product(distance, c, other)][q] =
          product_of<shape>(ref, distance, c, other, q);
    }
  __syncthreads();
}

}  // namespace kg

// lane_rows.cuh: A = L L^T of an element whose rows are dealt out to a few lanes of a warp: lane q
// has rows q, LANES + q, ... in its registers, x^T being row N. Columns of L go to shared memory as
// they are found, where all lanes see them. What the next column needs comes by shuffles, so that
// the others are computed while its pivot is on its way. With PIVOTS < N the first columns alone
// are eliminated; what they leave of the others stays in the registers.
#pragma once
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

template <int N_, int LANES_, int PIVOTS_ = N_>
struct lane_rows {
  static constexpr int N = N_, LANES = LANES_, PIVOTS = PIVOTS_;
  static constexpr int ROWS = N / LANES + 1;  ///< of a lane, row N among them

  /// Entries of row r of a lane: up to the diagonal in the last of the lanes.
  static __host__ __device__ constexpr int end(int r)
  {
    return LANES * (r + 1) < N ? LANES * (r + 1) : N;
  }
  static __host__ __device__ constexpr int entry(int r, int j)
  {
    return LANES * r * (r + 1) / 2 + j;
  }
  static constexpr int ENTRIES = entry(ROWS - 1, end(ROWS - 1));
  /// Pair of rows i and its neighbour in column j of L; a column begins with its diagonal's pair.
  static __host__ __device__ constexpr int pair(int i, int j)
  {
    const int whole = N / 2 + 1, before = j / 2;  // columns come in twos, one pair less each time
    return 2 * before * whole - before * (before - 1) + j % 2 * (whole - before) + i / 2 - before;
  }
  static constexpr int PAIRS = pair(N, PIVOTS - 1) + 1;
};

/// The place of a lane of a warp: lane q of element e, in an order in which shared memory answers
/// all lanes at once.
template <int LANES_>
struct lane_place {
  static constexpr int LANES = LANES_, E = 32 / LANES;
  int q, e;

  __device__ __forceinline__ lane_place()
  {
    const int lane = threadIdx.x % 32;
    e = lane / 2 % E;
    q = lane % 2 + lane / (2 * E) * 2;
  }
  /// Return `value` as the lane with row i of the same element has it.
  __device__ __forceinline__ double from_row(int i, double value) const
  {
    const int other = i % LANES;
    return __shfl_sync(0xffffffffu, value, other % 2 + 2 * e + other / 2 * (2 * E));
  }
  /// The sum over the lanes of an element, in a fixed order.
  __device__ __forceinline__ double sum(double value) const
  {
    for (int bit = 1; bit < LANES; bit *= 2)
      value += __shfl_xor_sync(0xffffffffu, value, bit == 1 ? 1 : bit * E);
    return value;
  }
};

/// A warp whose L is kept: [pair of rows of a column][element], 1 / L_kk on the diagonal.
template <class shape>
struct lane_factor : lane_place<shape::LANES> {
  using lane_place<shape::LANES>::E, lane_place<shape::LANES>::e;
  double2 *s_l;

  __device__ __forceinline__ lane_factor(double2 *l) : s_l(l)
  {
  }
  __device__ __forceinline__ double &l(int i, int j) const
  {
    return ((double *)(s_l + (shape::pair(j, j) - j / 2) * E + e))[i / 2 * (2 * E) + i % 2];
  }
  __device__ __forceinline__ double2 l_pair(int i, int j) const
  {
    return s_l[shape::pair(i, j) * E + e];
  }
};

/// A = L L^T, y = L^-1 x, all to shared memory.
/// @param[in] w  a warp at its elements: q, the lane of its element; from_row(i, value), what the
///               lane with row i has; l(i, j) and l_pair(i, j), L in shared memory
template <class shape, class warp>
__device__ __forceinline__ void factor_rows(const warp &w, double (&a)[shape::ENTRIES])
{
  constexpr int N = shape::N, LANES = shape::LANES, ROWS = shape::ROWS, PIVOTS = shape::PIVOTS;
  double pivot = w.from_row(0, a[0]), below = w.from_row(1, a[shape::entry(1 / LANES, 0)]);
#pragma unroll
  for (int k = 0; k < PIVOTS; ++k) {
    const double root = reciprocal_root(pivot), first = below * root;
    double column[ROWS];
#pragma unroll
    for (int r = k / LANES; r < ROWS; ++r) {
      const int i = LANES * r + w.q;
      column[r] = a[shape::entry(r, k)] * root;
      if ((r > k / LANES || i > k) && (r < ROWS - 1 || i <= N)) w.l(i, k) = column[r];
      if (k + 1 < shape::end(r)) {
        double &next = a[shape::entry(r, k + 1)];
        next = fma(-column[r], first, next);
      }
    }
    if (w.q == k % LANES) w.l(k, k) = root;
    if (k + 1 < PIVOTS) pivot = w.from_row(k + 1, a[shape::entry((k + 1) / LANES, k + 1)]);
    if (k + 1 < PIVOTS && k + 2 < N)
      below = w.from_row(k + 2, a[shape::entry((k + 2) / LANES, k + 1)]);
    __syncwarp();
#pragma unroll
    for (int j = (k + 2) / 2 * 2; j < N; j += 2) {
      const double2 others = w.l_pair(j, k);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (j >= k + 2 && j < shape::end(r)) {
          double &entry = a[shape::entry(r, j)];
          entry = fma(-column[r], others.x, entry);
        }
        if (j + 1 < shape::end(r)) {
          double &entry = a[shape::entry(r, j + 1)];
          entry = fma(-column[r], others.y, entry);
        }
      }
    }
  }
}

}  // namespace kg

// local_matrices_lanes_solve.cuh: Z^-1 = L L^T and W = L^-1 [R, f] of a few elements by the lanes of a
// warp (local_matrices_lanes.cu). Rows of Z^-1, later columns of [R, f] are in the registers of the lanes
// that have them; L goes to shared memory.
#pragma once
#include "ops/local_matrices_lanes_tables.cuh"
#include "ops/tiles.cuh"

namespace kg
{

/// threadIdx.x. Where registers are short the compiler is not to know that it stays the same: what
/// follows from it is then computed again where it is used.
template <class shape>
__device__ __forceinline__ int this_thread()
{
  if (!shape::LONG) return threadIdx.x;
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// Lane q of element e of those at hand. The order of lanes lets shared memory answer them all at once,
/// whether they ask by element or by q.
template <class shape>
struct lane_place {
  int q, e;

  __device__ explicit lane_place(int lane)
  {
    e = lane / 2 % shape::E;
    q = lane % 2 + lane / (2 * shape::E) * 2;
  }
  /// Lane q of the same element.
  __device__ int lane_of(int other) const
  {
    return other % 2 + 2 * e + other / 2 * (2 * shape::E);
  }
};

/// A warp at its elements.
template <class shape>
struct lanes_warp {
  const lanes_tables<shape> *tables;
  lanes_memory<shape> *memory;
  lane_place<shape> place;
  lanes_turn turn;
  int lane;  ///< of the group

  /// @param[in] known  the warp's turn; where registers are short, it comes from shared memory
  __device__ __forceinline__ lanes_warp(lanes_block<shape> &block, lanes_turn known)
      : tables(&block.tables),
        memory(block.memory + this_thread<shape>() / 32),
        place(this_thread<shape>() % 32),
        turn(known)
  {
    if (shape::LONG) {
      const volatile lanes_turn &kept = memory->turn;
      turn = {kept.of_block, kept.pass, kept.first};
    }
    lane = turn.first + place.e;
  }
  __device__ __forceinline__ double factor(int which) const
  {
    return memory->factor[which][lane];
  }
  /// F^e of an unknown of the trace, [unknown][element].
  __device__ __forceinline__ double &condensed(int unknown) const
  {
    static_assert(sizeof memory->l >= sizeof(double) * shape::n * shape::E, "where L was");
    return ((double *)memory->l)[unknown * shape::E + place.e];
  }
  /// Entry (i, j) of L.
  __device__ __forceinline__ double &l(int i, int j) const
  {
    return ((double *)&memory
                ->l[shape::first_pair(j) - j / 2][place.e])[i / 2 * (2 * shape::E) + i % 2];
  }
};

/// Rows of Z^-1.
template <class shape>
__device__ __forceinline__ void build_rows(const lanes_warp<shape> &w, double (&z)[shape::ENTRIES])
{
  const int q = w.place.q;
  const double edge = w.factor(TAU), mass = w.factor(MASS);
  const double same[3] = {w.factor(SAME_R), w.factor(SAME_S), w.factor(SAME_EDGE)};
  const double different[2] = {w.factor(DIFFERENT_S), w.factor(DIFFERENT_EDGE)};
#pragma unroll
  for (int r = 0; r < shape::ROWS; ++r) {
    const bool odd =
        (shape::ODD >> (shape::uniform(r) ? shape::LANES * r : shape::LANES * r + q)) & 1;
#pragma unroll
    for (int j = 0; j < shape::N; ++j) {
      if (j >= shape::end(r)) continue;
      const bool is_same = odd == (bool)(shape::ODD >> j & 1), top = shape::TOP >> j & 1;
      const double2 *ref = w.tables->z_inverse[shape::entry(r, j)][q];
      double sum = j >= shape::LANES * r && q == j - shape::LANES * r ? mass : 0.0;
      sum = fma(is_same ? same[2] : different[1], ref[1].y, sum);
      if (!top) sum = fma(is_same ? same[1] : different[0], ref[1].x, sum);
      if (!shape::uniform(r) || is_same) {  // else these two are zero
        sum = fma(edge, ref[0].y, sum);
        if (!top) sum = fma(same[0], ref[0].x, sum);
      }
      z[shape::entry(r, j)] = sum;
    }
  }
}

/// An entry of the lane that has row i.
template <class shape>
__device__ __forceinline__ double from_row(const lanes_warp<shape> &w, int i, int j,
                                           const double (&z)[shape::ENTRIES])
{
  return __shfl_sync(0xffffffffu, z[shape::entry(i / shape::LANES, j)],
                     w.place.lane_of(i % shape::LANES));
}

/// Z^-1 = L L^T, a column after the other. What the next column needs comes first, by shuffles, so that
/// the others are computed while its pivot is on its way; they take the column from shared memory.
template <class shape>
__device__ __forceinline__ void factor(const lanes_warp<shape> &w)
{
  constexpr int N = shape::N, LANES = shape::LANES, ROWS = shape::ROWS;
  const int q = w.place.q;
  double z[shape::ENTRIES];
  build_rows<shape>(w, z);
  double pivot = from_row<shape>(w, 0, 0, z), below = from_row<shape>(w, 1, 0, z);
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const double root = reciprocal_root(pivot), first = below * root;
    double column[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (r < k / LANES) continue;
      const int i = LANES * r + q;
      column[r] = z[shape::entry(r, k)] * root;
      if ((r > k / LANES || i > k) && (r < ROWS - 1 || i < N)) w.l(i, k) = column[r];
      if (r > k / LANES || k % LANES < LANES - 1)
        if (k + 1 < shape::end(r)) {
          double &next = z[shape::entry(r, k + 1)];
          next = fma(-column[r], first, next);
        }
    }
    if (q == k % LANES) w.l(k, k) = root;
    if (k + 1 < N) pivot = from_row<shape>(w, k + 1, k + 1, z);
    if (k + 2 < N) below = from_row<shape>(w, k + 2, k + 1, z);
    __syncwarp();
#pragma unroll
    for (int p = 0; p < (N + 1) / 2; ++p) {
      if (2 * p + 1 < k + 2) continue;
      const double2 others = w.memory->l[shape::pair(2 * p, k)][w.place.e];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (2 * p >= k + 2 && 2 * p < shape::end(r)) {
          double &entry = z[shape::entry(r, 2 * p)];
          entry = fma(-column[r], others.x, entry);
        }
        if (2 * p + 1 < shape::end(r)) {
          double &entry = z[shape::entry(r, 2 * p + 1)];
          entry = fma(-column[r], others.y, entry);
        }
      }
    }
  }
}

/// Columns of [R, f], without the signs of reversed sides.
template <class shape>
__device__ __forceinline__ void build_columns(const lanes_warp<shape> &w,
                                              double (&x)[shape::N][shape::COLUMNS])
{
  const int q = w.place.q;
  double tau[shape::COLUMNS], lift_r[shape::COLUMNS], lift_s[shape::COLUMNS];
#pragma unroll
  for (int c = 0; c < shape::COLUMNS; ++c) {
    const int edge = shape::side(shape::COLUMNS * q + c);
    tau[c] = w.factor(TAU + edge);
    lift_r[c] = w.factor(LIFT_R + edge);
    lift_s[c] = w.factor(LIFT_S + edge);
  }
#pragma unroll
  for (int k = 0; k < shape::N; ++k)
#pragma unroll
    for (int c = 0; c < shape::COLUMNS; ++c) {
      const double2 *ref = w.tables->lift[k][c][q];
      double sum = tau[c] * ref[1].x;
      if (!(shape::TOP >> k & 1)) {
        sum = fma(lift_r[c], ref[0].x, sum);
        sum = fma(lift_s[c], ref[0].y, sum);
      }
      if (c == shape::LOAD && q == shape::LANES - 1) sum = w.memory->load[k][w.place.e];
      x[k][c] = sum;
    }
}

/// W = L^-1 [R, f]. Pairs of rows of L are asked for some time before they are used.
template <class shape>
__device__ __forceinline__ void solve(const lanes_warp<shape> &w,
                                      double (&x)[shape::N][shape::COLUMNS])
{
  constexpr int N = shape::N, AHEAD = 2;
  double2 queue[AHEAD];
#pragma unroll
  for (int s = 0; s < AHEAD; ++s) queue[s] = w.memory->l[s][w.place.e];
#pragma unroll
  for (int k = 0; k < N; ++k)
#pragma unroll
    for (int p = 0; p < (N + 1) / 2; ++p) {
      if (p < k / 2) continue;
      const int at = shape::pair(2 * p, k);
      const double2 l = queue[at % AHEAD];
      if (at + AHEAD < shape::PAIRS) queue[at % AHEAD] = w.memory->l[at + AHEAD][w.place.e];
#pragma unroll
      for (int c = 0; c < shape::COLUMNS; ++c) {
        if (p == k / 2) x[k][c] *= k % 2 == 0 ? l.x : l.y;
        if (2 * p > k) x[2 * p][c] = fma(-l.x, x[k][c], x[2 * p][c]);
        if (2 * p + 1 > k && 2 * p + 1 < N) x[2 * p + 1][c] = fma(-l.y, x[k][c], x[2 * p + 1][c]);
      }
    }
}

}  // namespace kg

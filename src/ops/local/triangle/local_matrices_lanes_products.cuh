// local_matrices_lanes_products.cuh: K^e = S0 - W^T W of a few elements by the lanes of a warp
// (local_matrices_lanes.cu), S0 without what the modes of degree P take from it: a lane multiplies
// the columns of its side by each other and by those of the next side, which come by shuffles.
#pragma once
#include "device/cuda_only.cuh"
#include "ops/local/triangle/local_matrices_lanes_solve.cuh"

namespace kg
{

/// A number whose sign changes where this bit, the highest of 32, is set.
__device__ __forceinline__ double flipped(double a, unsigned bit)
{
  return __hiloint2double(__double2hiint(a) ^ (int)bit, __double2loint(a));
}

/// A copy, of which the compiler does not know that it is one. Of products of nothing but registers
/// it would add up one after the other, each sum waiting for itself.
__device__ __forceinline__ double copied(double a, int zero)
{
  return __hiloint2double(__double2hiint(a) ^ zero, __double2loint(a) ^ zero);
}

/// The places to which results of an element go.
template <class shape>
struct lanes_results {
  double *local;      ///< first row of K^e
  double *condensed;  ///< F^e in mode 0 of the lane's side
  /// Bit 31: the lane's side is reversed, which changes the sign of odd modes; the next side is.
  unsigned reversed, next_reversed;
  bool has_load;  ///< an element or the repetition of the last one
  bool exists;    ///< an element

  __device__ __forceinline__ lanes_results(const lanes_warp<shape> &w,
                                           const kg_local_matrices_args &a, int64_t element,
                                           uint32_t side)
  {
    const int64_t group = element / KG_LANES;
    const int lane = element % KG_LANES;
    local = (double *)a.local.data + group * shape::RESULTS * KG_LANES + lane;
    condensed = a.condensed + (group * shape::n + w.side * shape::m) * KG_LANES + lane;
    reversed = side << 31;
    next_reversed = __shfl_sync(0xffffffffu, reversed, shape::LANES * w.e + (w.side + 1) % 3);
    has_load = w.e < shape::E && group < a.batch.count.n_groups;
    exists = w.e < shape::E && element < a.batch.count.n_elements;
  }
  /// Sign of mode FIRST + c of a side that is reversed so.
  static __device__ __forceinline__ unsigned sign(int c, unsigned side_reversed)
  {
    return (c + shape::FIRST) % 2 ? side_reversed : 0;
  }
};

/// F^e, of which there is -F^e without signs; what of reduced K^e is known without W.
template <class shape>
__device__ __forceinline__ void put_load(const lanes_warp<shape> &w, const lanes_side &side,
                                         const lanes_results<shape> &to,
                                         const double (&x)[shape::MINE])
{
#pragma unroll
  for (int c = 0; c < shape::MINE; ++c) {
    const int column = shape::column(w.half, c);
    store_if(to.has_load && column < shape::COLUMNS,
             to.condensed + (column + shape::FIRST) * KG_LANES,
             flipped(-x[c], to.sign(column, to.reversed)));
  }
  if (!shape::REDUCED) return;
  // The function p_l of reduced K^e is its own local solution, so p_l . F^e = (f, p_l).
  const double next = w.from_side(1, x[0]), before = w.from_side(2, x[0]);
  store_if(to.has_load && w.half == 0, to.condensed,
           fma(KG_REDUCED_SLOPE, before - next, side.mean));
  store_if(to.exists && w.half == 0, to.local + (w.side == 0 ? 0 : 3 - w.side) * KG_LANES,
           side.trace_next);
}

/// Columns of W for rows: of two lanes of a side, each with half the columns, one gets the upper
/// half of the rows of all columns, the other the lower half. Then they multiply as one lane would
/// that had all, with half the numbers from the next side.
template <class shape>
__device__ __forceinline__ void trade(const lanes_warp<shape> &w,
                                      const double (&x)[shape::K + 1][shape::MINE],
                                      double (&y)[shape::DEPTH][shape::COLUMNS])
{
  constexpr int DEPTH = shape::DEPTH, MINE = shape::MINE;
#pragma unroll
  for (int k = 0; k < DEPTH; ++k)
#pragma unroll
    for (int c = 0; c < MINE; ++c) {
      const double upper = x[k][c], lower = DEPTH + k < shape::K ? x[DEPTH + k][c] : 0.0;
      const double other = w.from_other_half(w.half == 0 ? lower : upper);
      y[k][c] = w.half == 0 ? upper : other;
      if (MINE + c < shape::COLUMNS) y[k][MINE + c] = w.half == 0 ? other : lower;
    }
}

/// Product p of COUNT, the first being number `first` of the products, to K^e. Of two lanes with a
/// part of each the first writes the even ones, the other the odd ones, when p is odd or the last.
template <class shape, int COUNT>
__device__ __forceinline__ void put(const lanes_warp<shape> &w, const lanes_results<shape> &to,
                                    int first, int p, const double (&value)[COUNT])
{
  double sum = value[p];
  bool has = to.exists;
  if (shape::PER_SIDE > 1) {
    if (p % 2 == 0 && p + 1 < COUNT) return;
    if (p % 2 > 0) {
      --p;
      sum = w.half == 0 ? value[p] : value[p + 1];
      sum += w.from_other_half(w.half == 0 ? value[p + 1] : value[p]);
    } else {
      sum += w.from_other_half(sum);
      has = has && w.half == 0;
    }
  }
  const unsigned at = w.tables->to[3 * (first + p) + w.q];  // q >= 3: of the product behind it
  store_if(has, (double *)((char *)to.local + at), sum);
}

/// Products of columns BEGIN .. END - 1 of the lane's side with themselves and those behind them.
template <class shape, int BEGIN, int END, int ROWS>
__device__ __forceinline__ void multiply_own(const lanes_warp<shape> &w, const lanes_side &side,
                                             const lanes_side_table<shape> &table,
                                             const lanes_results<shape> &to, int zero,
                                             const double (&x)[ROWS][shape::COLUMNS])
{
  constexpr int FIRST = shape::own(BEGIN, BEGIN), LAST = shape::own(shape::COLUMNS - 1, END - 1);
  double sum[LAST + 1 - FIRST] = {};
#pragma unroll
  for (int k = 0; k < shape::DEPTH; ++k)
#pragma unroll
    for (int other = BEGIN; other < END; ++other) {
      const double copy = copied(x[k][other], zero);
#pragma unroll
      for (int c = other; c < shape::COLUMNS; ++c) {
        double &entry = sum[shape::own(c, other) - FIRST];
        entry = fma(x[k][c], copy, entry);
      }
    }
  constexpr double SHARE = 1.0 / shape::PER_SIDE;  // of what is no product, each lane's
#pragma unroll
  for (int c = BEGIN; c < shape::COLUMNS; ++c)
#pragma unroll
    for (int other = BEGIN; other <= c && other < END; ++other) {
      const int at = shape::own(c, other);
      double &entry = sum[at - FIRST];
      entry = fma(SHARE * side.trace_own, table.own[at], -entry);
      if (c == other) entry += SHARE * side.own;
      const bool first = shape::REDUCED && c == 0 && other == 0;  // which has the sign s_l
      entry = flipped(entry,
                      first ? to.reversed : to.sign(c, to.reversed) ^ to.sign(other, to.reversed));
      put<shape>(w, to, FIRST, at - FIRST, sum);
    }
}

/// Products with columns first .. first + AT_ONCE - 1 of the next side.
template <class shape, int AT_ONCE, int ROWS>
__device__ __forceinline__ void multiply_next(const lanes_warp<shape> &w, const lanes_side &side,
                                              const lanes_side_table<shape> &table,
                                              const lanes_results<shape> &to, int first,
                                              const double (&x)[ROWS][shape::COLUMNS])
{
  constexpr int COLUMNS = shape::COLUMNS;
  double sum[AT_ONCE * COLUMNS] = {};
#pragma unroll
  for (int k = 0; k < shape::DEPTH; ++k)
#pragma unroll
    for (int t = 0; t < AT_ONCE; ++t) {
      const double other = w.from_side(1, x[k][first + t]);
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        sum[t * COLUMNS + c] = fma(x[k][c], other, sum[t * COLUMNS + c]);
    }
  constexpr double SHARE = 1.0 / shape::PER_SIDE;
#pragma unroll
  for (int t = 0; t < AT_ONCE; ++t)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const int other = first + t;
      double &entry = sum[t * COLUMNS + c];
      entry = fma(SHARE * side.trace_next, table.next[c][other], -entry);
      entry = fma(SHARE * side.next, table.top[c][other], entry);
      entry = flipped(entry, to.sign(c, to.reversed) ^ to.sign(other, to.next_reversed));
      put<shape>(w, to, shape::next(0, first), t * COLUMNS + c, sum);
    }
}

/// K^e from W.
template <class shape, int ROWS>
__device__ __forceinline__ void multiply(const lanes_warp<shape> &w, const lanes_side &side,
                                         const lanes_side_table<shape> &table,
                                         const lanes_results<shape> &to, int zero,
                                         const double (&x)[ROWS][shape::COLUMNS])
{
  // AT_ONCE columns are multiplied at a time, so that all is in registers.
  constexpr int COLUMNS = shape::COLUMNS, AT_ONCE = COLUMNS < 5 ? COLUMNS : 2;
  multiply_own<shape, 0, shape::SPLIT>(w, side, table, to, zero, x);
  if constexpr (shape::SPLIT < COLUMNS)
    multiply_own<shape, shape::SPLIT, COLUMNS>(w, side, table, to, zero, x);
#pragma unroll
  for (int first = 0; first + AT_ONCE <= COLUMNS; first += AT_ONCE)
    multiply_next<shape, AT_ONCE>(w, side, table, to, first, x);
  if constexpr (COLUMNS % AT_ONCE > 0)
    multiply_next<shape, COLUMNS % AT_ONCE>(w, side, table, to, COLUMNS - COLUMNS % AT_ONCE, x);
}

}  // namespace kg

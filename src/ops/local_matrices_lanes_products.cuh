// local_matrices_lanes_products.cuh: K^e = S0 - W^T W of a few elements by the lanes of a warp
// (local_matrices_lanes.cu), S0 without what the modes of degree P take from it: a lane multiplies
// the columns of its side by each other and by those of the next side, which come by shuffles.
#pragma once
#include "ops/local_matrices_lanes_solve.cuh"

namespace kg
{

/// A store by some lanes, which nothing branches around: the compiler would move the computation of
/// the value behind the branch, where it could not be mixed with others.
__device__ __forceinline__ void store_if(bool condition, double *to, double value)
{
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.global.f64 [%0], %1;\n}" ::"l"(to),
      "d"(value), "r"((int)condition)
      : "memory");
}

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

/// Where results of an element go.
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
    local = a.local + group * shape::RESULTS * KG_LANES + lane;
    condensed = a.condensed + (group * shape::n + w.q * shape::m) * KG_LANES + lane;
    reversed = side << 31;
    next_reversed = __shfl_sync(0xffffffffu, reversed, shape::LANES * w.e + (w.q + 1) % 3);
    has_load = w.e < shape::E && group < a.batch.count.n_groups;
    exists = w.e < shape::E && element < a.batch.count.n_elements;
  }
  /// Signs of mode FIRST + c of the lane's side and mode FIRST + other of one that is reversed so.
  __device__ __forceinline__ unsigned sign(int c, unsigned other_reversed, int other) const
  {
    return ((c + shape::FIRST) % 2 ? reversed : 0) ^
           ((other + shape::FIRST) % 2 ? other_reversed : 0);
  }
};

/// F^e, of which there is -F^e without signs; what of reduced K^e is known without W.
template <class shape>
__device__ __forceinline__ void put_load(const lanes_warp<shape> &w, const lanes_side &side,
                                         const lanes_results<shape> &to,
                                         const double (&x)[shape::COLUMNS])
{
#pragma unroll
  for (int c = 0; c < shape::COLUMNS; ++c)
    store_if(to.has_load, to.condensed + (c + shape::FIRST) * KG_LANES,
             flipped(-x[c], to.sign(c, 0, 0)));
  if (!shape::REDUCED) return;
  // The function p_l of reduced K^e is its own local solution, so p_l . F^e = (f, p_l).
  const double next = w.from((w.q + 1) % 3, x[0]), before = w.from((w.q + 2) % 3, x[0]);
  store_if(to.has_load, to.condensed, fma(KG_REDUCED_SLOPE, before - next, side.mean));
  store_if(to.exists, to.local + (w.q == 0 ? 0 : 3 - w.q) * KG_LANES, side.trace_next);
}

/// An entry of K^e, of this product of columns, where this bit is set with the other sign.
template <class shape>
__device__ __forceinline__ void put(const lanes_warp<shape> &w, const lanes_results<shape> &to,
                                    int product, double value, unsigned sign)
{
  store_if(to.exists, (double *)((char *)to.local + w.tables->to[product][w.q]),
           flipped(value, sign));
}

/// Products of the lane's columns.
template <class shape>
__device__ __forceinline__ void multiply_own(const lanes_warp<shape> &w, const lanes_side &side,
                                             const lanes_side_table<shape> &table,
                                             const lanes_results<shape> &to, int zero,
                                             const double (&x)[shape::K + 1][shape::COLUMNS])
{
  double sum[shape::OWN] = {};
#pragma unroll
  for (int k = 0; k < shape::K; ++k)
#pragma unroll
    for (int other = 0; other < shape::COLUMNS; ++other) {
      const double copy = copied(x[k][other], zero);
#pragma unroll
      for (int c = other; c < shape::COLUMNS; ++c) {
        double &entry = sum[shape::own(c, other)];
        entry = fma(x[k][c], copy, entry);
      }
    }
#pragma unroll
  for (int c = 0; c < shape::COLUMNS; ++c)
#pragma unroll
    for (int other = 0; other <= c; ++other) {
      const int at = shape::own(c, other);
      double value = fma(side.trace_own, table.own[at], -sum[at]);
      if (c == other) value += side.own;
      const bool first = shape::REDUCED && c == 0 && other == 0;  // which has the sign s_l
      put(w, to, at, value, first ? to.reversed : to.sign(c, to.reversed, other));
    }
}

/// Products with columns first .. first + AT_ONCE - 1 of the next side.
template <class shape, int AT_ONCE>
__device__ __forceinline__ void multiply_next(const lanes_warp<shape> &w, const lanes_side &side,
                                              const lanes_side_table<shape> &table,
                                              const lanes_results<shape> &to, int first,
                                              const double (&x)[shape::K + 1][shape::COLUMNS])
{
  const int from = (w.q + 1) % 3;
  double sum[AT_ONCE][shape::COLUMNS] = {};
#pragma unroll
  for (int k = 0; k < shape::K; ++k)
#pragma unroll
    for (int t = 0; t < AT_ONCE; ++t) {
      const double other = w.from(from, x[k][first + t]);
#pragma unroll
      for (int c = 0; c < shape::COLUMNS; ++c) sum[t][c] = fma(x[k][c], other, sum[t][c]);
    }
#pragma unroll
  for (int t = 0; t < AT_ONCE; ++t)
#pragma unroll
    for (int c = 0; c < shape::COLUMNS; ++c) {
      const int other = first + t;
      double value = fma(side.trace_next, table.next[c][other], -sum[t][c]);
      value = fma(side.next, table.top[c][other], value);
      put(w, to, shape::OWN + c * shape::COLUMNS + other, value,
          to.sign(c, to.next_reversed, other));
    }
}

/// K^e from W.
template <class shape>
__device__ __forceinline__ void multiply(const lanes_warp<shape> &w, const lanes_side &side,
                                         const lanes_side_table<shape> &table,
                                         const lanes_results<shape> &to, int zero,
                                         const double (&x)[shape::K + 1][shape::COLUMNS])
{
  multiply_own<shape>(w, side, table, to, zero, x);
  // So many at a time that all is in registers.
  constexpr int COLUMNS = shape::COLUMNS, AT_ONCE = COLUMNS < 5 ? COLUMNS : 2;
#pragma unroll
  for (int first = 0; first + AT_ONCE <= COLUMNS; first += AT_ONCE)
    multiply_next<shape, AT_ONCE>(w, side, table, to, first, x);
  if constexpr (COLUMNS % AT_ONCE > 0)
    multiply_next<shape, COLUMNS % AT_ONCE>(w, side, table, to, COLUMNS - COLUMNS % AT_ONCE, x);
}

}  // namespace kg

// local_matrices_lanes_products.cuh: K^e = S0 - W^T W and F^e = W^T w_f of a few elements by the lanes of
// a warp (local_matrices_lanes.cu): a lane multiplies its columns of W by each other and by those of
// the lanes that follow it in the circle of its element, which come by shuffles.
#pragma once
#include "ops/local_matrices_lanes_solve.cuh"

namespace kg
{

/// A copy, of which the compiler does not know that it is one. Of products of nothing but registers it
/// would add up one after the other, each sum waiting for itself.
__device__ __forceinline__ double copied(double a, int zero)
{
  return __hiloint2double(__double2hiint(a) ^ zero, __double2loint(a) ^ zero);
}

/// A store by some lanes, which nothing branches around: the compiler would move the computation of the
/// value behind the branch, where it could not be mixed with others.
__device__ __forceinline__ void store_if(bool condition, double *to, double value)
{
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.global.cs.f64 [%0], %1;\n}" ::"l"(to),
      "d"(value), "r"((int)condition)
      : "memory");
}

/// The same to shared memory.
__device__ __forceinline__ void store_shared_if(bool condition, unsigned to, double value)
{
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.shared.f64 [%0], %1;\n}" ::"r"(to),
      "d"(value), "r"((int)condition)
      : "memory");
}

/// Read at once.
__device__ __forceinline__ lanes_product whole(const lanes_product &p)
{
  const double2 halves = *(const double2 *)&p;
  return {halves.x, (unsigned)__double2loint(halves.y), (unsigned)__double2hiint(halves.y)};
}

/// Where results of an element go.
struct lanes_results {
  char *local;
  unsigned condensed;  ///< F^e, in shared memory
  unsigned even;       ///< bit x: an even number of the sides whose bits x has are reversed
  bool exists;
  int zero;  ///< that the compiler does not know
};

/// The lane's columns and those of the lane `distance` further around the circle.
template <class shape>
struct lanes_pair {
  const lanes_warp<shape> &w;
  const lanes_results &to;
  int distance, from;
  bool last, from_last;  ///< the lane, that lane has f
  bool second;           ///< the other lane has made these products too

  __device__ __forceinline__ lanes_pair(const lanes_warp<shape> &warp, const lanes_results &results,
                                        int d)
      : w(warp), to(results), distance(d)
  {
    const int q = (w.place.q + d) % shape::LANES;
    from = w.place.lane_of(q);
    last = w.place.q == shape::LANES - 1;
    from_last = q == shape::LANES - 1;
    second = d == shape::HALF && w.place.q >= shape::HALF;
  }

  /// Whether the lane makes the product of its column c and that column.
  __device__ __forceinline__ bool has(int c, int other) const
  {
    return !shape::is_half(distance) || c >= other;
  }

  /// One entry of K^e = S0 - W^T W or of F^e = W^T w_f, from the product of two columns of W.
  __device__ __forceinline__ void put(int c, int other, double product) const
  {
    constexpr int LOAD = shape::LOAD;
    const lanes_product p = whole(w.tables->product[shape::product(distance, c, other)][w.place.q]);
    const char *trace = (const char *)&w.memory->factor[S_ZERO][w.lane] + (p.what >> 16);
    double value = fma(*(const double *)trace, -p.mass, product);
    if (distance == 0 && c == other)
      value -= w.factor(TAU + shape::side(shape::COLUMNS * w.place.q + c));
    const unsigned flip = __funnelshift_l(0, to.even, p.what) & 1u << 31;
    value = __hiloint2double(__double2hiint(value) ^ (int)flip, __double2loint(value));
    const bool twice = c == other && second;
    const bool beyond = (c >= LOAD && last) || (other >= LOAD && from_last);
    store_if(to.exists && !twice && !beyond, (double *)(to.local + p.to), value);
    const bool mine = c == LOAD && last && (distance > 0 || other < LOAD);
    const bool theirs = other == LOAD && from_last && distance > 0;
    if (c == LOAD || other == LOAD)
      store_shared_if(!twice && (mine || theirs), to.condensed + p.to, -value);
  }

  /// Products with columns first .. first + TOGETHER - 1.
  template <int TOGETHER>
  __device__ __forceinline__ void multiply(int first,
                                           const double (&x)[shape::N][shape::COLUMNS]) const
  {
    double sum[TOGETHER][shape::COLUMNS] = {};
#pragma unroll
    for (int k = 0; k < shape::N; ++k)
#pragma unroll
      for (int t = 0; t < TOGETHER; ++t) {
        const double mine = x[k][first + t];
        const double theirs = distance == 0
                                  ? (TOGETHER == shape::COLUMNS ? mine : copied(mine, to.zero))
                                  : __shfl_sync(0xffffffffu, mine, from);
#pragma unroll
        for (int c = 0; c < shape::COLUMNS; ++c)
          if (has(c, first + t)) sum[t][c] = fma(x[k][c], theirs, sum[t][c]);
      }
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t)
#pragma unroll
      for (int c = 0; c < shape::COLUMNS; ++c)
        if (has(c, first + t)) put(c, first + t, sum[t][c]);
  }
};

/// F^e in mode 0 of side l. The function p_l of reduced K^e is its own local solution, so p_l . F^e =
/// (f, p_l) (docs/math.md#reduced).
template <class shape>
__device__ __forceinline__ double flux_of_load(const lanes_warp<shape> &w, int l)
{
  const unsigned even = w.memory->even[w.lane];
  constexpr int place[3] = {shape::place_of(0), shape::place_of(1), shape::place_of(2)};
  double sum = 0.0;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    sum = fma(w.tables->mean[l][i], w.memory->load[place[i]][w.place.e], sum);
  const int next = l < 2 ? l + 1 : 0, before = l > 0 ? l - 1 : 2;
  const double of_next = w.condensed(next * shape::m + 1);
  const double of_before = w.condensed(before * shape::m + 1);
  const bool next_runs = even >> (1 << next) & 1, before_runs = even >> (1 << before) & 1;
  return fma(KG_REDUCED_SLOPE,
             (next_runs ? of_next : -of_next) - (before_runs ? of_before : -of_before), sum);
}

/// F^e from shared memory; what of K^e and F^e is known without W.
template <class shape>
__device__ __forceinline__ void finish(const lanes_warp<shape> &w, const kg_local_matrices_args &a,
                                       int64_t group)
{
  double *const local = a.local + group * shape::RESULTS * KG_LANES + w.lane;
  double *const condensed = a.condensed + group * shape::n * KG_LANES + w.lane;
  const int q = w.place.q;
  __syncwarp();
#pragma unroll
  for (int c = 0; c < shape::COLUMNS; ++c) {
    const int column = shape::LANES * c + q, unknown = shape::unknown(column);
    if (column < shape::TRACES) condensed[unknown * KG_LANES] = w.condensed(unknown);
  }
  if (shape::REDUCED)
    for (int l = q; l < 3; l += shape::LANES) {
      condensed[l * shape::m * KG_LANES] = flux_of_load<shape>(w, l);
      __stcs(local + l * KG_LANES, w.factor(S_ZERO + kg_reduced_trace(l)));
    }
  if (group * KG_LANES + w.lane >= a.batch.count.n_elements)
    for (int k = q; k < shape::RESULTS; k += shape::LANES) local[k * KG_LANES] = 0.0;
}

/// K^e and F^e from W.
template <class shape>
__device__ __forceinline__ void multiply(const lanes_warp<shape> &w,
                                         const kg_local_matrices_args &a, int64_t group,
                                         const double (&x)[shape::N][shape::COLUMNS])
{
  double *const local = a.local + group * shape::RESULTS * KG_LANES + w.lane;
  const bool exists = group * KG_LANES + w.lane < a.batch.count.n_elements;
  const unsigned condensed = (unsigned)__cvta_generic_to_shared(&w.condensed(0));
  const lanes_results to = {(char *)local, condensed, w.memory->even[w.lane], exists,
                            a.batch.count.n_groups >> 31};
  __syncwarp();  // L has been used
#pragma unroll
  for (int distance = 0; distance <= shape::HALF; ++distance) {
    const lanes_pair<shape> pair(w, to, distance);
#pragma unroll
    for (int other = 0; other < shape::COLUMNS; ++other) {
      const int count = shape::at_once(distance, other);
      if (count == 1) pair.template multiply<1>(other, x);
      if (count == 2) pair.template multiply<2>(other, x);
      if (count == 3) pair.template multiply<3>(other, x);
      if (count == 4) pair.template multiply<4>(other, x);
    }
  }
}

}  // namespace kg

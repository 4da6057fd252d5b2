// local_matrices_lanes_solve.cuh: A = L L^T and W = L^-1 R of a few elements by the lanes of a warp
// (local_matrices_lanes.cu), A, R and f being what is left when modes of degree P are eliminated.
// Rows of A, later columns of R are in registers of the lanes that have them; L in shared memory.
#pragma once
#include "ops/local/triangle/local_matrices_lanes_tables.cuh"
#include "ops/local/triangle/local_operator.cuh"

namespace kg
{

/// A warp at its elements: lane q of element e, which has columns of side q % 3.
template <class shape>
struct lanes_warp {
  const lanes_tables<shape> *tables;
  lanes_memory<shape> *memory;
  int q, e, side;
  int half;  ///< which of the columns of the side

  __device__ __forceinline__ lanes_warp(lanes_block<shape> &block, int warp)
      : tables(&block.tables),
        memory(block.memory + warp),
        q(threadIdx.x % 32 % shape::LANES),
        e(threadIdx.x % 32 / shape::LANES),
        side(shape::PER_SIDE == 1 ? q : q % 3),
        half(shape::PER_SIDE == 1 ? 0 : q / 3)
  {
  }
  /// Return `value` as another lane of the element has it.
  __device__ __forceinline__ double from(int lane, double value) const
  {
    return __shfl_sync(0xffffffffu, value, shape::LANES * e + lane);
  }
  __device__ __forceinline__ double from_row(int i, double value) const
  {
    return from(i % shape::LANES, value);
  }
  /// Return `value` as the lane with the same half of side + by has it.
  __device__ __forceinline__ double from_side(int by, double value) const
  {
    return from(3 * half + (side + by) % 3, value);
  }
  __device__ __forceinline__ double from_other_half(double value) const
  {
    return from((q + 3) % shape::LANES, value);
  }
  /// The entry of the lane's side.
  __device__ __forceinline__ double of_side(const double (&a)[3]) const
  {
    return side == 0 ? a[0] : side == 1 ? a[1] : a[2];
  }
  /// Entry (i, j) of L, and row N, L^-1 f.
  __device__ __forceinline__ double &l(int i, int j) const
  {
    return ((double *)&memory
                ->l[shape::rows::pair(j, j) - j / 2][e])[i / 2 * (2 * shape::SLOTS) + i % 2];
  }
  __device__ __forceinline__ double2 l_pair(int i, int j) const
  {
    return memory->l[shape::rows::pair(i, j)][e];
  }
};

/// Factors of the reference matrices for a side l of an element; l+1, l+2 modulo 3.
struct lanes_side {
  double own;            ///< tau_l - (P + 1) tau_l^2 / c: of F_l
  double across, along;  ///< of derivatives of modes of the same parity, of different parity
  double same, other;    ///< likewise, of what degree P leaves in R
  double load;           ///< tau_l / c: of what degree P leaves in F^e
  double trace_own, trace_next;  ///< of F_l^T F_l, F_l^T F_l+1
  double next;                   ///< -tau_l tau_l+1 / c: of what degree P takes from the latter
  double mean;                   ///< (f, p_l), of reduced K^e
};

/// The element of a lane and its side.
template <class shape>
struct lanes_element {
  condensed_operator<shape::P> rows;
  top_modes top;
  lanes_side side;

  __device__ __forceinline__ lanes_element(const lanes_warp<shape> &w, const kg_element &g)
      : rows(g), top(g, shape::m)
  {
    const double tau = w.of_side(g.tau), per_c = top.per_c;
    const double next = w.of_side({g.tau[1], g.tau[2], g.tau[0]});
    const double before = w.of_side({g.tau[2], g.tau[0], g.tau[1]});
    side.own = tau * (g.mass + shape::m * (next + before)) * per_c;
    side.load = tau * per_c;
    side.next = -side.load * next;
    side.same = -side.load * (next + before);
    side.other = -side.load * (next - before);
    side.trace_own = w.of_side({g.trace[0], g.trace[2], g.trace[5]});
    side.trace_next = w.of_side({g.trace[1], g.trace[4], g.trace[3]});
    side.across = -side.trace_own;
    side.along = 0.5 * (side.trace_next - w.of_side({g.trace[3], g.trace[1], g.trace[4]}));
    if (shape::MINE % 2 > 0 && w.half > 0) {  // its columns are of the other parity
      const lanes_side first = side;
      side.across = first.along;
      side.along = first.across;
      side.same = first.other;
      side.other = first.same;
    }
    side.mean = 0.0;
    if (shape::REDUCED) {
      constexpr auto places = shape::places();
#pragma unroll
      for (int i = 0; i < 3; ++i)
        side.mean = fma(w.tables->mean[i][w.side], w.memory->load[places.at[i]][w.e], side.mean);
    }
  }
};

/// What lanes_element reads of kg_element_of() where diffusion is a number. With the statements in
/// this order, without anything of tensors, the compiler spills least: at order 4 the kernel takes
/// nine tenths of the time.
__device__ __forceinline__ kg_element number_element(const double x[3], const double y[3],
                                                     const kg_material &material)
{
  kg_element e;
  const double x1 = x[1] - x[0], y1 = y[1] - y[0], x2 = x[2] - x[0], y2 = y[2] - y[0];
  const double det = x1 * y2 - x2 * y1, per_det = 1.0 / det;
  e.jacobian = 0.25 * det;
  e.grad_r[0] = 2.0 * y2 * per_det;
  e.grad_r[1] = -2.0 * x2 * per_det;
  e.grad_s[0] = -2.0 * y1 * per_det;
  e.grad_s[1] = 2.0 * x1 * per_det;
  const double kj = material.diffusion * e.jacobian, trace = 4.0 * material.diffusion * per_det;
  e.mass = material.reaction * e.jacobian;
  e.stiffness[0] = kj * (e.grad_r[0] * e.grad_r[0] + e.grad_r[1] * e.grad_r[1]);
  e.stiffness[1] = kj * (e.grad_r[0] * e.grad_s[0] + e.grad_r[1] * e.grad_s[1]);
  e.stiffness[2] = kj * (e.grad_s[0] * e.grad_s[0] + e.grad_s[1] * e.grad_s[1]);
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const int next = l == 2 ? 0 : l + 1;
    const double dx = x[next] - x[l], dy = y[next] - y[l];
    e.tau[l] = 0.5 * material.stabilization * kg_tau_scale(material.scaling, dx * dx + dy * dy);
    e.half_normal[l][0] = 0.5 * dy;
    e.half_normal[l][1] = -0.5 * dx;
#pragma unroll
    for (int k = 0; k <= l; ++k)
      e.trace[l * (l + 1) / 2 + k] = trace * (e.half_normal[l][0] * e.half_normal[k][0] +
                                              e.half_normal[l][1] * e.half_normal[k][1]);
  }
  return e;
}

/// The element, of the lanes of `materials`, whose corners are in shared memory.
template <class shape, bool ONE_NUMBER>
__device__ __forceinline__ lanes_element<shape> element_of(const lanes_warp<shape> &w,
                                                           const kg_materials &materials,
                                                           int64_t element)
{
  double x[3], y[3];
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const double2 corner = w.memory->corner[l][w.e];
    x[l] = corner.x;
    y[l] = corner.y;
  }
  if constexpr (ONE_NUMBER) return lanes_element<shape>(w, number_element(x, y, materials.one));
  const kg_material own = kg_material_at(&materials, element / KG_LANES, (int)(element % KG_LANES));
  return lanes_element<shape>(w, kg_element_of(x, y, own));
}

/// f of the modes of degree P.
template <class shape>
__device__ __forceinline__ void read_top(const lanes_warp<shape> &w, double (&top)[shape::m])
{
#pragma unroll
  for (int p = 0; p < shape::m; ++p) top[p] = w.memory->load[shape::K + p][w.e];
}

/// f becomes f - B f_p / c, B = sum_l tau_l B_l; each lane has its rows.
template <class shape>
__device__ __forceinline__ void eliminate_load(const lanes_warp<shape> &w, const top_modes &e)
{
  constexpr int m = shape::m, LANES = shape::LANES;
  double top[m];
  read_top<shape>(w, top);
#pragma unroll
  for (int r = 0; LANES * r < shape::K; ++r) {
    const int i = LANES * r + w.q;
    const bool odd = shape::ODD >> (shape::uniform(r) ? LANES * r : i) & 1;
    double of_parity[2] = {0.0, 0.0}, base = 0.0;
#pragma unroll
    for (int p = 0; p < m; ++p) {
      const double2 ref = w.tables->top[r][p][w.q];
      of_parity[p % 2] = fma(ref.x, top[p], of_parity[p % 2]);
      if (!shape::uniform(r) || p % 2 == odd) base = fma(ref.y, top[p], base);
    }
    const double alike = odd ? of_parity[1] : of_parity[0];
    const double other = odd ? of_parity[0] : of_parity[1];
    const double sum =
        fma(e.tau[0], base, fma(e.tau[1] + e.tau[2], alike, (e.tau[1] - e.tau[2]) * other));
    if (i < shape::K) w.memory->load[i][w.e] = fma(-e.per_c, sum, w.memory->load[i][w.e]);
  }
}

/// Rows of A, and f^T in the lane that has row K.
template <class shape>
__device__ __forceinline__ void build_rows(const lanes_warp<shape> &w,
                                           const condensed_operator<shape::P> &e,
                                           double (&a)[shape::rows::ENTRIES])
{
  using rows = typename shape::rows;
  constexpr int LANES = shape::LANES, K = shape::K;
  const double same[3] = {e.same_rs, e.same_edge, e.same_pair};
  const double other[3] = {e.other_rs + 0.5 * e.ss, e.other_edge, e.other_pair};
#pragma unroll
  for (int r = 0; r < rows::ROWS; ++r) {
    const bool odd = shape::ODD >> (shape::uniform(r) ? LANES * r : LANES * r + w.q) & 1;
    const bool has_load = r == rows::ROWS - 1;  // at least one of the lanes
#pragma unroll
    for (int j = 0; j < rows::end(r); ++j) {
      double sum = 0.0;
      if (!has_load || K % LANES > 0) {
        const bool is_same = odd == (bool)(shape::ODD >> j & 1);
        const double2(&ref)[3][LANES] = w.tables->z_inverse[rows::entry(r, j)];
        const double2 first = ref[0][w.q], second = ref[1][w.q];
        sum = j >= LANES * r && w.q == j - LANES * r ? e.diagonal : 0.0;
        sum = fma(is_same ? same[0] : other[0], first.x, sum);
        sum = fma(is_same ? same[1] : other[1], first.y, sum);
        sum = fma(is_same ? same[2] : other[2], second.x, sum);
        if (!shape::uniform(r) || is_same) {  // else these are zero
          const double2 third = ref[2][w.q];
          sum = fma(e.ss, second.y, sum);
          sum = fma(e.base, third.x, sum);
          sum = fma(e.sides, third.y, sum);
        }
      }
      if (has_load && (K % LANES == 0 || w.q == K % LANES)) sum = w.memory->load[j][w.e];
      a[rows::entry(r, j)] = sum;
    }
  }
}

/// A = L L^T and L^-1 f, to shared memory.
template <class shape>
__device__ __forceinline__ void factor(const lanes_warp<shape> &w,
                                       const condensed_operator<shape::P> &e)
{
  double a[shape::rows::ENTRIES];
  build_rows<shape>(w, e, a);
  factor_rows<typename shape::rows>(w, a);
}

/// The numbers derivative and eliminated of lanes_side_table for mode i and column c of the lane.
template <class shape>
__device__ __forceinline__ double2 column_of(const lanes_warp<shape> &w,
                                             const lanes_side_table<shape> &table, int i, int c)
{
  if constexpr (shape::PER_SIDE == 1)
    return make_double2(table.derivative[i][c], table.eliminated[i][c]);
  else
    return w.tables->column[i][c][w.half];
}

/// Rows of R of the modes of one degree: what they are as the side sees them, combined.
template <class shape, int DEGREE>
__device__ __forceinline__ void build_degree(const lanes_warp<shape> &w, const lanes_side &side,
                                             const lanes_side_table<shape> &table,
                                             double (&x)[shape::K + 1][shape::MINE])
{
  constexpr int MODE = DEGREE * (DEGREE + 1) / 2;  // the first
  constexpr auto places = shape::places();
  double r[DEGREE + 1][shape::MINE];
#pragma unroll
  for (int j = 0; j <= DEGREE; ++j)
#pragma unroll
    for (int c = 0; c < shape::MINE; ++c) {
      const bool alike = shape::alike(MODE + j, c);
      const double2 ref = column_of<shape>(w, table, MODE + j, c);
      double sum = (alike ? side.same : side.other) * ref.y;
      if (j <= shape::column(shape::PER_SIDE - 1, c) + shape::FIRST)  // else the derivative is zero
        sum = fma(alike ? side.across : side.along, ref.x, sum);
#pragma unroll
      for (int half = 0; half < shape::PER_SIDE; ++half)
        if (j == shape::column(half, c) + shape::FIRST) sum += half == w.half ? side.own : 0.0;
      r[j][c] = sum;
    }
#pragma unroll
  for (int i = 0; i <= DEGREE; ++i) {
    const int k = places.at[MODE + i];
#pragma unroll
    for (int j = 0; j <= DEGREE; ++j) {
      const double edge = w.tables->edge[k][j][w.side];
#pragma unroll
      for (int c = 0; c < shape::MINE; ++c)
        x[k][c] = j == 0 ? edge * r[j][c] : fma(edge, r[j][c], x[k][c]);
    }
  }
  if constexpr (DEGREE > 0) build_degree<shape, DEGREE - 1>(w, side, table, x);
}

/// The lane's columns of R, without the sign of its side; behind them, in row K, what modes of
/// degree P make of -F^e.
template <class shape>
__device__ __forceinline__ void build_columns(const lanes_warp<shape> &w, const lanes_side &side,
                                              const lanes_side_table<shape> &table,
                                              double (&x)[shape::K + 1][shape::MINE])
{
  build_degree<shape, shape::P - 1>(w, side, table, x);
  double top[shape::m];
  read_top<shape>(w, top);
#pragma unroll
  for (int c = 0; c < shape::MINE; ++c) {
    double sum = 0.0;
#pragma unroll
    for (int p = 0; p < shape::m; ++p) sum = fma(w.tables->edge_top[p][c][w.q], top[p], sum);
    x[shape::K][c] = -side.load * sum;
  }
}

/// W = L^-1 R, and -F^e below it, L having L^-1 f as its row K. Pairs of rows of L are asked for
/// some time before they are used.
template <class shape>
__device__ __forceinline__ void solve(const lanes_warp<shape> &w,
                                      double (&x)[shape::K + 1][shape::MINE])
{
  using rows = typename shape::rows;
  constexpr int K = shape::K, AHEAD = 2;
  double2 queue[AHEAD];
#pragma unroll
  for (int s = 0; s < AHEAD; ++s) queue[s] = w.memory->l[s][w.e];
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int p = k / 2; p <= K / 2; ++p) {
      const int at = rows::pair(2 * p, k);
      const double2 l = queue[at % AHEAD];
      if (at + AHEAD < rows::PAIRS) queue[at % AHEAD] = w.memory->l[at + AHEAD][w.e];
#pragma unroll
      for (int c = 0; c < shape::MINE; ++c) {
        if (p == k / 2) x[k][c] *= k % 2 == 0 ? l.x : l.y;
        if (2 * p > k) x[2 * p][c] = fma(-l.x, x[k][c], x[2 * p][c]);
        if (2 * p + 1 > k && 2 * p + 1 <= K) x[2 * p + 1][c] = fma(-l.y, x[k][c], x[2 * p + 1][c]);
      }
    }
}

}  // namespace kg

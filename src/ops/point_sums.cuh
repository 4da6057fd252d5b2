// point_sums.cuh: sums over the points of an element, by the lanes of a group: its load vector, and
// its errors against an exact solution. For values that lie in memory the CUDA compiler takes this
// file (load_vectors_cuda.cu, errors_cuda.cu), for formulas NVRTC (sample_kernel.h), without any
// header; there products and sums are not fused unless they say so.
//
// The rule and the modes are products in collapsed coordinates: R = P + 3 rows of R points each, and
// mode (i, j), number d (d+1) / 2 + i with d = i + j, is along_i(point of the row) across_ij(row).
// So a sum over modes at the points of a row goes by i, and a row costs N + R m products instead of
// R N. The corners, behind the points of the rule, have no weight and no such form.
//
// A Rule has along(a, i), across(row, mode), weight(point) and corner(k, mode), the same for all lanes.
// A Source has row(number).value(a) of the lane and says how many points to UNROLL; an Exact has
// row(number).values(a, [3]) and, of u alone, corner(k). Both look at a sum of what they gave: check(sum).
// Modes of a lane lie 32 doubles apart.
#pragma once

namespace kg
{

/// The larger of a, which is not negative, and |b|, or NaN where one is, as kg_larger() of errors.h. Bits
/// of such numbers are in their order, behind them infinity and NaN; what they need is no work of the
/// units for double precision.
__device__ __forceinline__ double larger(double a, double b)
{
  return __longlong_as_double(
      max(__double_as_longlong(a), __double_as_longlong(b) & 0x7fffffffffffffffll));
}

template <int P>
struct point_shape {
  static constexpr int R = P + 3;                                 ///< rows; points of a row
  static constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 2;  ///< modes; of order P + 1
  static constexpr int LANES = 32;
};

/// load_ij = scale sum_q w_q f(q) phi_ij(q).
template <int P, class Rule, class Source>
__device__ __forceinline__ void load_of_points(const Rule &rule, const Source &source, double scale,
                                               double *load)
{
  using shape = point_shape<P>;
  double sum[shape::N] = {};
#pragma unroll 1
  for (int row = 0; row < shape::R; ++row) {
    const auto points = source.row(row);
    double along[P + 1] = {};
#pragma unroll Source::UNROLL
    for (int a = 0; a < shape::R; ++a) {
      const double weighted = rule.weight(row * shape::R + a) * points.value(a);
#pragma unroll
      for (int i = 0; i <= P; ++i) along[i] = fma(rule.along(a, i), weighted, along[i]);
    }
#pragma unroll
    for (int d = 0, mode = 0; d <= P; ++d)
#pragma unroll
      for (int i = 0; i <= d; ++i, ++mode)
        sum[mode] = fma(rule.across(row, mode), along[i], sum[mode]);
  }
#pragma unroll
  for (int mode = 0; mode < shape::N; ++mode) load[mode * shape::LANES] = scale * sum[mode];
  source.check(sum[0]);
}

/// One lane's modes.
struct point_fields {
  const double *u, *q_x, *q_y, *star;
};

/// Sums of one lane, without its jacobian.
struct point_errors {
  double u2, q2, star2, largest;
};

/// Rows first.. of the rule, ROWS of them; beyond the last one they repeat it without weight.
template <int P, int ROWS, class Rule, class Exact>
__device__ __forceinline__ void errors_of_rows(const Rule &rule, const Exact &exact,
                                               const point_fields &field, int first,
                                               point_errors &error)
{
  using shape = point_shape<P>;
  decltype(exact.row(0)) points[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; ++k)
    points[k] = exact.row(first + k < shape::R ? first + k : shape::R - 1);
  double u[ROWS][P + 1] = {}, x[ROWS][P + 1] = {}, y[ROWS][P + 1] = {}, star[ROWS][P + 2] = {};
#pragma unroll
  for (int d = 0, mode = 0; d <= P + 1; ++d) {
    asm volatile("" ::: "memory");  // loads of one degree at a time: all fill the registers
#pragma unroll
    for (int i = 0; i <= d; ++i, ++mode) {
      const int at = mode * shape::LANES;
      const double mode_star = field.star[at];
      const double mode_u = d <= P ? field.u[at] : 0.0, mode_x = d <= P ? field.q_x[at] : 0.0;
      const double mode_y = d <= P ? field.q_y[at] : 0.0;
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        const double across = rule.across(first + k < shape::R ? first + k : shape::R - 1, mode);
        star[k][i] = fma(across, mode_star, star[k][i]);
        if (d > P) continue;
        u[k][i] = fma(across, mode_u, u[k][i]);
        x[k][i] = fma(across, mode_x, x[k][i]);
        y[k][i] = fma(across, mode_y, y[k][i]);
      }
    }
  }
#pragma unroll 1
  for (int a = 0; a < shape::R; ++a)
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      double value[3];
      points[k].values(a, value);
      double du = -value[0], dx = -value[1], dy = -value[2], dstar = -value[0];
#pragma unroll
      for (int i = 0; i <= P; ++i) {
        const double along = rule.along(a, i);
        du = fma(along, u[k][i], du);
        dx = fma(along, x[k][i], dx);
        dy = fma(along, y[k][i], dy);
        dstar = fma(along, star[k][i], dstar);
      }
      dstar = fma(rule.along(a, P + 1), star[k][P + 1], dstar);
      const double weight = first + k < shape::R ? rule.weight((first + k) * shape::R + a) : 0.0;
      error.u2 = fma(weight * du, du, error.u2);
      error.q2 = fma(weight, fma(dx, dx, dy * dy), error.q2);
      error.star2 = fma(weight * dstar, dstar, error.star2);
      error.largest = larger(error.largest, du);
    }
}

/// |u - exact| at the corners.
template <int P, class Rule, class Exact>
__device__ __forceinline__ void errors_of_corners(const Rule &rule, const Exact &exact,
                                                  const point_fields &field, point_errors &error)
{
  double sum[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) sum[k] = -exact.corner(k);
#pragma unroll 4
  for (int mode = 0; mode < point_shape<P>::N; ++mode) {
    const double mode_u = field.u[mode * point_shape<P>::LANES];
#pragma unroll
    for (int k = 0; k < 3; ++k) sum[k] = fma(rule.corner(k, mode), mode_u, sum[k]);
  }
#pragma unroll
  for (int k = 0; k < 3; ++k) error.largest = larger(error.largest, sum[k]);
}

/// SHARE warps share a group in errors_of_group(), and do ROWS rows at once. Where one warp has a group for
/// itself, four are in a block.
template <int SHARE_, int ROWS_>
struct error_shape {
  static constexpr int SHARE = SHARE_, ROWS = ROWS_;
  static constexpr int GROUPS = SHARE == 1 ? 4 : 1, WARPS = SHARE * GROUPS;
};

/// Sums over a group: of the three squares, and the maximum, into sums[4]. All threads of the block
/// come here, those of a warp for one group. Sums are in a fixed order.
template <int P, class Shape, class Rule, class Exact>
__device__ __forceinline__ void errors_of_group(const Rule &rule, const Exact &exact,
                                                const point_fields &field, double jacobian,
                                                bool exists, double *sums)
{
  using shape = Shape;
  __shared__ double s_error[shape::WARPS][4];
  const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);  // known to be uniform
  const int share = warp % shape::SHARE;
  point_errors mine = {};
#pragma unroll 1
  for (int row = share * shape::ROWS; row < point_shape<P>::R; row += shape::SHARE * shape::ROWS)
    errors_of_rows<P, shape::ROWS>(rule, exact, field, row, mine);
  if (share == shape::SHARE - 1) errors_of_corners<P>(rule, exact, field, mine);
  exact.check(mine.u2 + mine.q2 + mine.largest);
  double error[4] = {jacobian * mine.u2, jacobian * mine.q2, jacobian * mine.star2,
                     jacobian > 0.0 ? mine.largest : 0.0};
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const double other = __shfl_xor_sync(0xffffffffu, error[k], bit);
      error[k] = k < 3 ? error[k] + other : larger(error[k], other);
    }
  if (threadIdx.x % 32 < 4)
    s_error[warp][threadIdx.x % 32] = threadIdx.x % 32 == 0   ? error[0]
                                      : threadIdx.x % 32 == 1 ? error[1]
                                      : threadIdx.x % 32 == 2 ? error[2]
                                                              : error[3];
  __syncthreads();
  if (share != 0 || threadIdx.x % 32 >= 4 || !exists) return;
  const int k = threadIdx.x % 32;
  double total = s_error[warp][k];
  for (int w = 1; w < shape::SHARE; ++w)
    total = k < 3 ? total + s_error[warp + w][k] : larger(total, s_error[warp + w][k]);
  sums[k] = total;
}

}  // namespace kg

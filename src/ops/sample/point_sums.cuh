// point_sums.cuh: sums over the points of an element, by the lanes of a group: its load vector, and
// its errors against an exact solution. For values that lie in memory the CUDA compiler takes this
// file (load_vectors_cuda.cu, errors_cuda.cu), for formulas NVRTC (sample_kernel.h), without any
// header; there products and sums are not fused unless they say so.
//
// Rule and modes are products in collapsed coordinates: R rows of R points each, and mode (i, j),
// number d (d+1) / 2 + i with d = i + j, is along_i(point of the row) across_ij(row). So a sum over
// modes at the points of a row goes by i, and a row costs N + R m products instead of R N. The
// corners, behind the points of the rule, have no weight and no such form. Load vectors have
// R = P + 3; the rule of errors says how many rows() it has.
//
// A Rule has along(a, i), across(row, mode), weight(point), top(a), top_of_row(row) and
// corner(k, mode), the same for all lanes. A Source has row(number).value(a) of the lane; an Exact
// has row(number).values(a, [3]) and, of u alone, corner(k). Both say how many points of a row to
// UNROLL, and look at a sum of what they gave: check(sum).
// Modes of a lane lie 32 doubles apart.
#pragma once

namespace kg
{

/// The larger of a, which is not negative, and |b|, or NaN where one is, as kg_larger() of
/// errors.h. Bits of such numbers are in their order, behind them infinity and NaN; what they need
/// is no work of the units for double precision.
__device__ __forceinline__ double larger(double a, double b)
{
  return __longlong_as_double(
      max(__double_as_longlong(a), __double_as_longlong(b) & 0x7fffffffffffffffll));
}

template <int P>
struct point_shape {
  static constexpr int R = P + 3;  ///< rows of the rule of load vectors
  static constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 2;  ///< modes; of order P + 1
  static constexpr int LANES = 32;
};

/// Where it goes whether loads are rough, kg_is_rough(), of a lane.
struct point_roughness {
  unsigned char *rough;  ///< null: nowhere
  double least;          ///< values that are less are rounding
};

/// load_ij = scale sum_q w_q f(q) phi_ij(q).
template <int P, class Rule, class Source>
__device__ __forceinline__ void load_of_points(const Rule &rule, const Source &source, double scale,
                                               double *load, const point_roughness &look)
{
  using shape = point_shape<P>;
  double sum[shape::N] = {}, size = 0.0, rough_along = 0.0, rough_across = 0.0;
#pragma unroll 1
  for (int row = 0; row < shape::R; ++row) {
    const auto points = source.row(row);
    double along[P + 1] = {}, top = 0.0;
#pragma unroll Source::UNROLL
    for (int a = 0; a < shape::R; ++a) {
      const double weighted = rule.weight(row * shape::R + a) * points.value(a);
      top = fma(rule.top(a), weighted, top);
      size += fabs(weighted);
#pragma unroll
      for (int i = 0; i <= P; ++i) along[i] = fma(rule.along(a, i), weighted, along[i]);
    }
#pragma unroll
    for (int d = 0, mode = 0; d <= P; ++d)
#pragma unroll
      for (int i = 0; i <= d; ++i, ++mode)
        sum[mode] = fma(rule.across(row, mode), along[i], sum[mode]);
    rough_along += fabs(top);
    rough_across = fma(rule.top_of_row(row), along[0], rough_across);
  }
#pragma unroll
  for (int mode = 0; mode < shape::N; ++mode) load[mode * shape::LANES] = scale * sum[mode];
  const double constant = 0.70710678118654752;  // along(a, 0); 2 is the area
  if (look.rough)
    *look.rough =
        rough_along + fabs(rough_across) / constant > KG_ROUGHNESS * (size + 2.0 * look.least);
  source.check(sum[0]);
}

/// One lane's modes.
struct point_fields {
  const double *u, *q_x, *q_y, *star;
};

/// Sums of one lane, without its jacobian.
struct point_errors {
  double u2, q2, star2, largest;
  double flux2;  ///< stays 0 where fluxes are not wanted
};

/// What the flux of a lane needs: its diffusion, and where the sum of the group goes or NULL.
struct point_flux {
  const double *diffusion;  ///< xx, xy, yy; read at each point, for which registers need not last
  double *sum;

  /// @param diffusion_  [material][4]: xx, xy, yy, and a number that is not read
  __device__ __forceinline__ point_flux(const double *diffusion_, const int *material,
                                        long long element, double *sum_)
      : diffusion(diffusion_), sum(sum_)
  {
    if (sum && material) diffusion += 4 * (long long)material[element];
  }
  /// The square of diffusion times an error of q. It is no sum of products of the error: those
  /// cancel where the error is nearly in a direction of little diffusion.
  __device__ __forceinline__ double square(double x, double y) const
  {
    const double along = fma(diffusion[0], x, diffusion[1] * y);
    const double across = fma(diffusion[1], x, diffusion[2] * y);
    return fma(along, along, across * across);
  }
};

/// Add the errors at a row of points. Modes fill the registers, so each row reads them again: with
/// __syncwarp() compilers cannot keep them from one row to the next.
template <int P, class Rule, class Exact>
__device__ __forceinline__ void errors_of_row(const Rule &rule, const Exact &exact,
                                              const point_fields &field, const point_flux &flux,
                                              int row, point_errors &error)
{
  using shape = point_shape<P>;
  __syncwarp();
  const auto points = exact.row(row);
  double u[P + 1] = {}, x[P + 1] = {}, y[P + 1] = {}, star[P + 2] = {};
#pragma unroll
  for (int d = 0, mode = 0; d <= P + 1; ++d) {
    asm volatile("" ::: "memory");  // loads of one degree at a time: all fill the registers
#pragma unroll
    for (int i = 0; i <= d; ++i, ++mode) {
      const int at = mode * shape::LANES;
      const double across = rule.across(row, mode);
      star[i] = fma(across, field.star[at], star[i]);
      if (d > P) continue;
      u[i] = fma(across, field.u[at], u[i]);
      x[i] = fma(across, field.q_x[at], x[i]);
      y[i] = fma(across, field.q_y[at], y[i]);
    }
  }
#pragma unroll Exact::UNROLL
  for (int a = 0; a < rule.rows(); ++a) {
    double value[3];
    points.values(a, value);
    double du = -value[0], dx = -value[1], dy = -value[2], dstar = -value[0];
#pragma unroll
    for (int i = 0; i <= P; ++i) {
      const double along = rule.along(a, i);
      du = fma(along, u[i], du);
      dx = fma(along, x[i], dx);
      dy = fma(along, y[i], dy);
      dstar = fma(along, star[i], dstar);
    }
    dstar = fma(rule.along(a, P + 1), star[P + 1], dstar);
    const double weight = rule.weight(row * rule.rows() + a);
    error.u2 = fma(weight * du, du, error.u2);
    error.q2 = fma(weight, fma(dx, dx, dy * dy), error.q2);
    error.star2 = fma(weight * dstar, dstar, error.star2);
    if (flux.sum) error.flux2 = fma(weight, flux.square(dx, dy), error.flux2);
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

/// SHARE warps share the rows of a group in errors_of_group(). Where one warp has a group for
/// itself, four are in a block.
template <int SHARE_>
struct error_shape {
  static constexpr int SHARE = SHARE_;
  static constexpr int GROUPS = SHARE == 1 ? 4 : 1, WARPS = SHARE * GROUPS;
};

/// The first three of four numbers a lane are summed over the lanes of a warp, and the largest of
/// the last ones is found: number k ends at lanes 8 k to 8 k + 7. Lanes share the numbers out; each
/// goes on with its own: a third of the shuffles that every lane would need to have all of them.
__device__ __forceinline__ double fold(const double (&error)[4])
{
  constexpr unsigned ALL = 0xffffffffu;
  const int lane = threadIdx.x % 32;
  const bool last_two = lane & 16, odd = lane & 8;
  double pair[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const double mine = last_two ? error[2 + k] : error[k];
    const double other = __shfl_xor_sync(ALL, last_two ? error[k] : error[2 + k], 16);
    pair[k] = k == 1 && last_two ? larger(mine, other) : mine + other;
  }
  double mine = odd ? pair[1] : pair[0], other = __shfl_xor_sync(ALL, odd ? pair[0] : pair[1], 8);
  mine = odd && last_two ? larger(mine, other) : mine + other;
#pragma unroll
  for (int bit = 4; bit > 0; bit /= 2) {
    other = __shfl_xor_sync(ALL, mine, bit);
    mine = odd && last_two ? larger(mine, other) : mine + other;
  }
  return mine;
}

/// The sum over the lanes of a warp.
__device__ __forceinline__ double sum_of_warp(double mine)
{
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, bit);
  return mine;
}

/// Sums over a group: of the three squares, and the maximum, into sums[4], and of the flux. All
/// threads of the block come here, those of a warp for one group; where warps share a group the
/// block has no other. Sums are in a fixed order.
template <int P, class Shape, class Rule, class Exact>
__device__ __forceinline__ void errors_of_group(const Rule &rule, const Exact &exact,
                                                const point_fields &field, const point_flux &flux,
                                                double jacobian, double *sums)
{
  constexpr int SHARE = Shape::SHARE;
  const int share = SHARE == 1 ? 0 : __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);  // uniform
  point_errors mine = {};
#pragma unroll 1
  for (int row = share; row < rule.rows(); row += SHARE)
    errors_of_row<P>(rule, exact, field, flux, row, mine);
  if (share == SHARE - 1) errors_of_corners<P>(rule, exact, field, mine);
  exact.check(mine.u2 + mine.q2 + mine.largest);
  const double of_lane[4] = {jacobian * mine.u2, jacobian * mine.q2, jacobian * mine.star2,
                             jacobian > 0.0 ? mine.largest : 0.0};
  double total = fold(of_lane), total_flux = 0.0;
  if (flux.sum) total_flux = sum_of_warp(jacobian * mine.flux2);
  const int lane = threadIdx.x % 32, k = lane / 8;
  if constexpr (SHARE > 1) {
    __shared__ double s_error[SHARE][4], s_flux[SHARE];
    if (lane % 8 == 0) s_error[share][k] = total;
    if (lane == 0) s_flux[share] = total_flux;
    __syncthreads();
    if (share != 0) return;
    for (int w = 1; w < SHARE; ++w)
      total = k < 3 ? total + s_error[w][k] : larger(total, s_error[w][k]);
    for (int w = 1; w < SHARE; ++w) total_flux += s_flux[w];
  }
  if (lane % 8 == 0) sums[k] = total;
  if (flux.sum && lane == 0) *flux.sum = total_flux;
}

}  // namespace kg

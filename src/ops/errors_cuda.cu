// errors_cuda.cu: squared L2 errors of a group and the maximum of |u - exact| over its points.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     lane = element; a warp does a group, a block where there are many points. POINTS points at
//         a time, so that a mode that was read serves POINTS sums. Sums in a fixed order.
// Cost    kg_errors_cost()
#include "backend/cuda_rt.h"
#include "ops/errors.h"

namespace
{

enum {
  WARPS = 4,   ///< of a block
  POINTS = 7,  ///< at a time
  MANY = 64,   ///< points for which a block does a group
};

/// One lane's modes and exact values, and sums of its errors.
struct lane_errors {
  const double *u, *q, *star, *exact;
  double u2, q2, star2, largest;
};

/// sum[c][k] = sum_i phi_i(point k) mode i of field c, for points first.. (the last is repeated).
template <int FIELDS>
__device__ __forceinline__ void add_modes(const kg_points &points, int first, int from, int to,
                                          const double *const (&field)[FIELDS],
                                          double (&sum)[FIELDS][POINTS])
{
  const double *phi[POINTS];
#pragma unroll
  for (int k = 0; k < POINTS; ++k)
    phi[k] = points.basis + (first + k < points.n ? first + k : points.n - 1) * points.n_star;
#pragma unroll 2
  for (int i = from; i < to; ++i) {
    double mode[FIELDS];
#pragma unroll
    for (int c = 0; c < FIELDS; ++c) mode[c] = field[c][i * KG_LANES];
#pragma unroll
    for (int k = 0; k < POINTS; ++k) {
      const double value = __ldg(phi[k] + i);
#pragma unroll
      for (int c = 0; c < FIELDS; ++c) sum[c][k] += value * mode[c];
    }
  }
}

__device__ __forceinline__ void add_points(const kg_errors_args &a, int first, lane_errors &lane)
{
  const int N = a.batch.reference.size.n_modes, S = a.batch.reference.size.n_star, n = a.points.n;
  const double *const fields[] = {lane.star, lane.u, lane.q, lane.q + N * KG_LANES};
  const double *const star[] = {lane.star};
  double sum[4][POINTS];
#pragma unroll
  for (int k = 0; k < POINTS; ++k) {
    const int at = (first + k < n ? first + k : n - 1) * KG_LANES;
    sum[0][k] = sum[1][k] = -lane.exact[at];
    sum[2][k] = -lane.exact[at + n * KG_LANES];
    sum[3][k] = -lane.exact[at + 2 * n * KG_LANES];
  }
  add_modes(a.points, first, 0, N, fields, sum);
  add_modes(a.points, first, N, S, star, reinterpret_cast<double(&)[1][POINTS]>(sum));
#pragma unroll
  for (int k = 0; k < POINTS; ++k) {
    const double w = first + k < n ? __ldg(a.points.weight + first + k) : 0.0;
    lane.star2 += w * sum[0][k] * sum[0][k];
    lane.u2 += w * sum[1][k] * sum[1][k];
    lane.q2 += w * (sum[2][k] * sum[2][k] + sum[3][k] * sum[3][k]);
    lane.largest = kg_larger(lane.largest, fabs(sum[1][k]));
  }
}

/// Sum over the lanes of a warp, in a fixed order; in all of them.
__device__ __forceinline__ double warp_sum(double value)
{
  for (int bit = 16; bit > 0; bit /= 2) value += __shfl_xor_sync(0xffffffffu, value, bit);
  return value;
}

/// Errors of the lane's element at points first, first + step, ...; `jacobian` is 0 in empty lanes.
__device__ __forceinline__ lane_errors errors_of(const kg_errors_args &a, int64_t g, int first,
                                                 int step, double *jacobian)
{
  const int lane = threadIdx.x & 31;
  const int N = a.batch.reference.size.n_modes, S = a.batch.reference.size.n_star;
  lane_errors mine = {a.u + g * N * KG_LANES + lane, a.q + g * 2 * N * KG_LANES + lane,
                      a.u_star + g * S * KG_LANES + lane,
                      a.exact + g * 3 * a.points.n * KG_LANES + lane};
  for (; first < a.points.n; first += step) add_points(a, first, mine);
  const int64_t group = a.first_group + g;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  if (!exists) mine.largest = 0.0;
  *jacobian = exists ? 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])) : 0.0;
  return mine;
}

/// A warp does a group.
__global__ void __launch_bounds__(32 * WARPS) errors_by_warp(const kg_errors_args a)
{
  const int lane = threadIdx.x & 31;
  const int64_t g = (int64_t)blockIdx.x * WARPS + (threadIdx.x >> 5);
  if (g >= a.n_groups) return;
  double jacobian;
  const lane_errors mine = errors_of(a, g, 0, POINTS, &jacobian);
  const double u2 = warp_sum(jacobian * mine.u2), q2 = warp_sum(jacobian * mine.q2);
  const double star2 = warp_sum(jacobian * mine.star2);
  double largest = mine.largest;
  for (int bit = 16; bit > 0; bit /= 2)
    largest = kg_larger(largest, __shfl_xor_sync(0xffffffffu, largest, bit));
  if (lane == 0) a.by_group[a.first_group + g] = {u2, q2, star2, largest};
}

/// A block does a group.
__global__ void __launch_bounds__(32 * WARPS) errors_by_block(const kg_errors_args a)
{
  __shared__ double s_warp[WARPS];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int64_t g = blockIdx.x;
  double jacobian;
  const lane_errors mine = errors_of(a, g, warp * POINTS, WARPS * POINTS, &jacobian);
  const double u2 = kg_block_sum(jacobian * mine.u2, s_warp);
  const double q2 = kg_block_sum(jacobian * mine.q2, s_warp);
  const double star2 = kg_block_sum(jacobian * mine.star2, s_warp);
  double largest = mine.largest;
  for (int offset = 16; offset > 0; offset /= 2)
    largest = kg_larger(largest, __shfl_down_sync(0xffffffffu, largest, offset));
  __syncthreads();
  if (lane == 0) s_warp[warp] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < WARPS; ++w) largest = kg_larger(largest, s_warp[w]);
  a.by_group[a.first_group + g] = {u2, q2, star2, largest};
}

}  // namespace

extern "C" kedge_status kg_errors_cuda(kedge_context *ctx, const kg_errors_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  const unsigned groups = (unsigned)a->n_groups;
  if (a->points.n < MANY)
    errors_by_warp<<<(groups + WARPS - 1) / WARPS, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(*a);
  else
    errors_by_block<<<groups, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "errors");
}

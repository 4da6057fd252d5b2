// errors_cuda.cu: squared L2 errors of a group and the maximum of |u - exact| over its points.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     block = group, lane = element, warps share out the points; sums in a fixed order.
#include "backend/cuda_rt.h"
#include "ops/errors.h"

namespace
{

enum { WARPS = 4 };

__global__ void __launch_bounds__(32 * WARPS) errors_kernel(const kg_errors_args a)
{
  __shared__ double s_warp[WARPS];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int N = a.batch.reference.size.n_modes, S = a.batch.reference.size.n_star;
  const int n_points = a.points.n;
  const int64_t g = blockIdx.x, group = a.first_group + g;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  const double jacobian =
      exists ? 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])) : 0.0;
  const double *u = a.u + g * N * KG_LANES + lane, *star = a.u_star + g * S * KG_LANES + lane;
  const double *qx = a.q + g * 2 * N * KG_LANES + lane, *qy = qx + N * KG_LANES;
  const double *exact = a.exact + g * 3 * n_points * KG_LANES + lane;

  double u2 = 0.0, q2 = 0.0, star2 = 0.0, largest = 0.0;
  for (int point = warp; point < n_points; point += WARPS) {
    const double *phi = a.points.basis + point * a.points.n_star;
    const double u_exact = exact[point * KG_LANES];
    double du = -u_exact, ds = -u_exact;
    double dx = -exact[(n_points + point) * KG_LANES],
           dy = -exact[(2 * n_points + point) * KG_LANES];
    for (int i = 0; i < N; ++i) {
      du += phi[i] * u[i * KG_LANES];
      dx += phi[i] * qx[i * KG_LANES];
      dy += phi[i] * qy[i * KG_LANES];
    }
    for (int i = 0; i < S; ++i) ds += phi[i] * star[i * KG_LANES];
    const double w = a.points.weight[point] * jacobian;
    u2 += w * du * du;
    q2 += w * (dx * dx + dy * dy);
    star2 += w * ds * ds;
    largest = fmax(largest, fabs(du));
  }
  u2 = kg_block_sum(u2, s_warp);
  q2 = kg_block_sum(q2, s_warp);
  star2 = kg_block_sum(star2, s_warp);
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmax(largest, __shfl_down_sync(0xffffffffu, largest, offset));
  __syncthreads();
  if (lane == 0) s_warp[warp] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < WARPS; ++w) largest = fmax(largest, s_warp[w]);
  a.by_group[group] = {u2, q2, star2, largest};
}

}  // namespace

extern "C" kedge_status kg_errors_cuda(kedge_context *ctx, const kg_errors_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  errors_kernel<<<(unsigned)a->n_groups, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "errors");
}

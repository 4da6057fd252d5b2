// load_vectors_cuda.cu: f^e_i = J sum_q w_q f(x_q) phi_i(q).
// Layout  values [group][point][lane], load [group][N][lane]: lanes are neighbouring words.
// Map     block = group, lane = element, warps share out the modes; values are re-read from L1.
#include "backend/cuda_rt.h"
#include "ops/load_vectors.h"

namespace
{

enum { WARPS = 4 };

__global__ void __launch_bounds__(32 * WARPS) load_vectors_kernel(const kg_load_vectors_args a)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int N = a.batch.reference.size.n_modes;
  const int64_t group = a.first_group + (int64_t)blockIdx.x;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const double jacobian = 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  const double *value = a.values + (int64_t)blockIdx.x * a.points.n * KG_LANES + lane;
  for (int i = warp; i < N; i += WARPS) {
    double sum = 0.0;
    for (int q = 0; q < a.points.n; ++q)
      sum += a.points.weight[q] * a.points.basis[q * a.points.n_star + i] * value[q * KG_LANES];
    a.load[(group * N + i) * KG_LANES + lane] = jacobian * sum;
  }
}

}  // namespace

extern "C" kedge_status kg_load_vectors_cuda(kedge_context *ctx, const kg_load_vectors_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  load_vectors_kernel<<<(unsigned)a->n_groups, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "load_vectors");
}

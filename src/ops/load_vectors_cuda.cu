// load_vectors_cuda.cu: f^e_i = J sum_q w_q f(x_q) phi_i(q).
// Layout  values [group][point][lane], load [group][N][lane]: lanes are neighbouring words.
// Map     block = group, lane = element; warps share out the modes, MODES of them at a time, so that
//         a value that was read serves MODES sums; several warps meet at a value in L1.
// Cost    kg_load_vectors_cost()
#include "backend/cuda_rt.h"
#include "ops/load_vectors.h"

namespace
{

enum { WARPS = 4, MODES = 8 };

__global__ void __launch_bounds__(32 * WARPS) load_vectors_kernel(const kg_load_vectors_args a)
{
  const int lane = threadIdx.x & 31, first = (int)(threadIdx.x >> 5) * MODES;
  const int N = a.batch.reference.size.n_modes, stride = (int)(blockDim.x >> 5) * MODES;
  const int64_t group = a.first_group + (int64_t)blockIdx.x;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const double jacobian = 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  const double *value = a.values + (int64_t)blockIdx.x * a.points.n * KG_LANES + lane;
  for (int i0 = first; i0 < N; i0 += stride) {
    double sum[MODES] = {};
#pragma unroll 4
    for (int q = 0; q < a.points.n; ++q) {
      const double weighted = __ldg(a.points.weight + q) * value[q * KG_LANES];
      const double *phi = a.points.basis + q * a.points.n_star;
#pragma unroll
      for (int k = 0; k < MODES; ++k) sum[k] += __ldg(phi + (i0 + k < N ? i0 + k : 0)) * weighted;
    }
#pragma unroll
    for (int k = 0; k < MODES; ++k)
      if (i0 + k < N) a.load[(group * N + i0 + k) * KG_LANES + lane] = jacobian * sum[k];
  }
}

}  // namespace

extern "C" kedge_status kg_load_vectors_cuda(kedge_context *ctx, const kg_load_vectors_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  const int passes = (a->batch.reference.size.n_modes + MODES - 1) / MODES;
  const unsigned threads = 32u * (unsigned)(passes < WARPS ? passes : WARPS);
  load_vectors_kernel<<<(unsigned)a->n_groups, threads, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "load_vectors");
}

// constant_modes_cuda.cu: the first row of u, q_x and q_y of every group.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     thread = word of the result, (group, field, lane); a warp copies a row of 256 bytes.
// Cost    48 bytes a triangle, read and written; no operations.
#include "device/cuda_each.cuh"
#include "ops/local/recover/constant_modes.h"

namespace
{

enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) constant_modes_kernel(const kg_constant_modes_args a)
{
  const int64_t i = kg_thread_number(), row = i / KG_LANES;
  if (row >= 3 * (int64_t)a.n_groups) return;
  const int64_t g = row / 3;
  const int field = (int)(row % 3), lane = threadIdx.x % KG_LANES;
  const double *from = field == 0 ? a.u + g * a.size.n_modes * KG_LANES
                                  : a.q + (2 * g + field - 1) * a.size.n_modes * KG_LANES;
  a.constant[i] = from[lane];
}

}  // namespace

extern "C" kedge_status kg_constant_modes_cuda(kedge_context *ctx, const kg_constant_modes_args *a)
{
  const int64_t words = 3 * (int64_t)KG_LANES * a->n_groups;
  return kg_launch_each<THREADS>(ctx, "constant_modes", words, constant_modes_kernel, *a);
}

// constant_modes_cuda.cu: the first row of u, q_x and q_y of every group.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     thread = word of the result, (group, field, lane); a warp copies a row of 256 bytes.
// Cost    48 bytes a triangle, read and written; no operations.
#include "backend/cuda_rt.h"
#include "ops/constant_modes.h"

namespace
{

enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) constant_modes_kernel(const kg_constant_modes_args a)
{
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = i / KG_LANES;
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
  if (a->n_groups == 0) return KEDGE_OK;
  const int64_t words = 3 * (int64_t)KG_LANES * a->n_groups;
  constant_modes_kernel<<<(unsigned)((words + THREADS - 1) / THREADS), THREADS, 0,
                          kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "constant_modes");
}

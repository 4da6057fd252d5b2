// local_reduced_cuda.cu: K^e of pure diffusion without its products with linear functions
// (local_reduced.h).
// Layout  from [group][n (n+1) / 2][lane], to [group][row][lane]
// Map     block = group, warp = every 32nd row, lane = element: whole lines are read and written. The rows
//         of a warp stay in its registers until the block has read the group, so that it may be written
//         over itself. A flux reads nine lines, which other warps bring to the first cache.
// Cost    kg_local_reduce_cost(), once a solve
#include "backend/cuda_rt.h"
#include "ops/local_reduced.h"
#include "ops/real.h"

namespace
{
enum { WARPS = 32 };

/// Most rows of a warp, up to an order.
constexpr int rows_of(int order)
{
  return (3 + 3 * order * (3 * order + 1) / 2 + WARPS - 1) / WARPS;
}

template <int ROWS>
__global__ void __launch_bounds__(32 * WARPS)
    KG_REAL(local_reduce_kernel)(const kg_local_reduce_args a, int rows)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int32_t group = a.first_group + (int32_t)blockIdx.x;
  kg_real *const to = (kg_real *)a.to + (int64_t)group * rows * KG_LANES + lane;
  kg_real value[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int row = warp + k * WARPS;
    if (row < rows) value[k] = (kg_real)kg_reduced_entry(&a, group * KG_LANES + lane, row);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int row = warp + k * WARPS;
    if (row < rows) to[row * KG_LANES] = value[k];
  }
}
}  // namespace

extern "C" kedge_status KG_REAL(kg_local_reduce_cuda)(kedge_context *ctx,
                                                      const kg_local_reduce_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;  // an empty grid is a launch error
  constexpr int LOW = 5;
  const auto kernel = a->batch.reference.size.order <= LOW
                          ? KG_REAL(local_reduce_kernel)<rows_of(LOW)>
                          : KG_REAL(local_reduce_kernel)<rows_of(KEDGE_ORDER_MAX)>;
  kernel<<<(unsigned)a->n_groups, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(
      *a, kg_reduced_rows(a->batch.reference.size));
  return kg_cuda_launched(ctx, "local_reduce");
}

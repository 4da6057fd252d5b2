// field_sums_cuda.cu: sums and extrema of u and u*, sums of q and sigma over a chunk's tetrahedra.
// Layout  u [group][N][lane], as u* and the flux: lanes are neighbouring words.
// Map     block = piece, whose warps take its groups in turn; lane = element. Sums of the lanes,
//         and then of the warps, are joined in a fixed order, and the first thread writes.
// Cost    kg_space_field_sums_cost(); each mode is read once, values at the points stay in
//         registers.
#include "device/cuda_join.cuh"
#include "device/cuda_launch.cuh"
#include "ops/local/tetrahedron/field_sums.h"

namespace
{

enum { WARPS = 8, THREADS = WARPS * KG_LANES };

__global__ void __launch_bounds__(THREADS, 2)
    space_field_sums(const __grid_constant__ kg_space_field_sums_args args)
{
  __shared__ kg_field_sums s_sum[WARPS];
  const kg_field_sums_args &a = args.sums;
  const int piece = (int)blockIdx.x, warp = (int)threadIdx.x / KG_LANES;
  const int lane = (int)threadIdx.x % KG_LANES;
  const int64_t n_groups = (a.n_elements + KG_LANES - 1) / KG_LANES;
  kg_field_sums sum = kg_no_field_sums();
  for (int64_t g = piece + (int64_t)warp * a.n_pieces; g < n_groups;
       g += (int64_t)WARPS * a.n_pieces)
    if (lane < kg_field_lanes(&a, g)) kg_space_field_sums_element(&args, g, lane, &sum);
  __syncwarp();
  kg_join_lanes<kg_field_sums_join>(sum);
  if (lane == 0) s_sum[warp] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  kg_field_sums all = a.begins ? kg_no_field_sums() : a.sums[piece];
  for (int w = 0; w < WARPS; ++w) kg_field_sums_join(&s_sum[w], &all);
  a.sums[piece] = all;
}

}  // namespace

extern "C" kedge_status kg_space_field_sums_add_cuda(kedge_context *ctx,
                                                     const kg_space_field_sums_args *args)
{
  return kg_launch(ctx, "space_field_sums", (unsigned)args->sums.n_pieces, THREADS, 0,
                   space_field_sums, *args);
}

// region_sums_cuda.cu: integrals over the elements of each region, extrema of u at its nodes.
// Layout  u [group][N][lane], as the flux: lanes are neighbouring words.
// Map     block = run, whose warps take its groups in turn; lane = element. Sums of the lanes, and
//         then of the warps, are joined in a fixed order.
// Cost    kg_region_sums_cost(): u is read once for each eight nodes, mostly from the cache.
#include "device/cuda_launch.cuh"
#include "ops/numbers/region_sums.h"

namespace
{

enum { WARPS = 8, THREADS = WARPS * KG_LANES };
enum { WORDS = sizeof(kg_region_sums) / sizeof(double) };
static_assert(sizeof(kg_region_sums) == WORDS * sizeof(double), "shuffled as numbers");

/// Join the sums of the lanes of a warp, so that lane 0 has all.
__device__ void join_lanes(kg_region_sums &sum)
{
  for (int away = KG_LANES / 2; away > 0; away /= 2) {
    kg_region_sums other;
    double mine[WORDS], theirs[WORDS];
    memcpy(mine, &sum, sizeof sum);
#pragma unroll
    for (int k = 0; k < WORDS; ++k) theirs[k] = __shfl_down_sync(0xffffffffu, mine[k], away);
    memcpy(&other, theirs, sizeof other);
    if (threadIdx.x % KG_LANES < away) kg_region_sums_join(&other, &sum);
  }
}

__global__ void __launch_bounds__(THREADS)
    region_sums(const __grid_constant__ kg_region_sums_args a)
{
  __shared__ kg_region_sums s_sum[WARPS];
  const int32_t run = a.first_run + (int32_t)blockIdx.x;
  const int warp = (int)threadIdx.x / KG_LANES, lane = (int)threadIdx.x % KG_LANES;
  int32_t begin, end;
  const bool begins = kg_run_part(&a, run, &begin, &end);
  for (int32_t record = a.runs.record[run]; record < a.runs.record[run + 1]; ++record) {
    kg_region_sums sum = kg_no_region_sums();
    for (int32_t g = begin + warp; g < end; g += WARPS) {
      if (!kg_is_of_record(&a, run, record, g, lane)) continue;
      const kg_region_sums of = kg_element_sums(&a, (g - a.first_group) * KG_LANES + lane);
      kg_region_sums_join(&of, &sum);
    }
    __syncwarp();
    join_lanes(sum);
    if (lane == 0) s_sum[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      kg_region_sums all = begins ? kg_no_region_sums() : a.sums[record];
      for (int w = 0; w < WARPS; ++w) kg_region_sums_join(&s_sum[w], &all);
      a.sums[record] = all;
    }
    __syncthreads();
  }
}

}  // namespace

extern "C" kedge_status kg_region_sums_add_cuda(kedge_context *ctx, const kg_region_sums_args *a)
{
  if (a->n_runs == 0) return KEDGE_OK;
  return kg_launch(ctx, "region_sums", (unsigned)a->n_runs, THREADS, 0, region_sums, *a);
}

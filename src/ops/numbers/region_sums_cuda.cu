// region_sums_cuda.cu: integrals over the elements of each region, extrema of u at its nodes.
// Layout  u [group][N][lane], as the flux: lanes are neighbouring words.
// Map     block = run, whose warps take eight groups at a time; lane = element. Sums of the lanes
//         are joined in a fixed order, and those of groups one after the other: another cut into
//         chunks gives the same bits.
// Cost    kg_region_sums_cost(): u is read once for each eight nodes, mostly from the cache.
#include "device/cuda_join.cuh"
#include "device/cuda_launch.cuh"
#include "ops/numbers/region_sums.h"

namespace
{

enum { WARPS = 8, THREADS = WARPS * KG_LANES };

template <kg_summed AS>
__global__ void __launch_bounds__(THREADS, 2)
    region_sums(const __grid_constant__ kg_region_sums_args a)
{
  __shared__ kg_region_sums s_sum[WARPS];
  const int32_t run = a.first_run + (int32_t)blockIdx.x;
  const int warp = (int)threadIdx.x / KG_LANES, lane = (int)threadIdx.x % KG_LANES;
  int32_t begin, end;
  const bool begins = kg_run_part(&a, run, &begin, &end);
  for (int32_t record = a.runs.record[run]; record < a.runs.record[run + 1]; ++record) {
    kg_region_sums all = begins ? kg_no_region_sums() : a.sums[record];
    for (int32_t first = begin; first < end; first += WARPS) {
      const int32_t g = first + warp;
      kg_region_sums sum = kg_no_region_sums();
      if (g < end && kg_is_of_record(&a, run, record, g, lane))
        sum = kg_element_sums(&a, (g - a.first_group) * KG_LANES + lane, AS);
      __syncwarp();
      kg_join_lanes<kg_region_sums_join>(sum);
      if (lane == 0) s_sum[warp] = sum;
      __syncthreads();
      for (int w = 0; threadIdx.x == 0 && w < WARPS && first + w < end; ++w)
        kg_region_sums_join(&s_sum[w], &all);
      __syncthreads();
    }
    if (threadIdx.x == 0) a.sums[record] = all;
  }
}

}  // namespace

extern "C" kedge_status kg_region_sums_add_cuda(kedge_context *ctx, const kg_region_sums_args *a)
{
  if (a->n_runs == 0) return KEDGE_OK;
  const kg_summed as = kg_summed_as(&a->elements);
  return kg_launch(ctx, "region_sums", (unsigned)a->n_runs, THREADS, 0,
                   as == KG_SUMMED_TETRAHEDRA      ? region_sums<KG_SUMMED_TETRAHEDRA>
                   : as == KG_SUMMED_BY_QUADRATURE ? region_sums<KG_SUMMED_BY_QUADRATURE>
                                                   : region_sums<KG_SUMMED_TRIANGLES>,
                   *a);
}

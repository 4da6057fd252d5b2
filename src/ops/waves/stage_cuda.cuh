// stage_cuda.cuh: a stage of waves; a system's header is included before this.
// Formula  ops/waves/stage.h
// Layout   ops/waves/stage_args.h
// Map      a block is a group of KG_WAVE_LANES elements. Its threads first make f of a facet's node
//          of a lane each, in shared memory; then the end of the stage of a node of a lane each.
// This kernel takes every order. It runs where NVRTC is not there to compile stage_fused.cuh.
// Cost     kg_wave_cost()
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/waves/stage_kernel.h"
#include "ops/waves/stage_node.h"

namespace
{

enum { LANES = KG_WAVE_LANES, THREADS = 256 };

__device__ __forceinline__ kg_real times_row(int n, const kg_real *row, const kg_real *x,
                                             int stride)
{
  kg_real sum = 0;
  for (int j = 0; j < n; ++j) sum += row[j] * x[j * stride];
  return sum;
}

__global__ void __launch_bounds__(THREADS) wave_stage(const __grid_constant__ kg_wave_args a)
{
  KG_SHARED(kg_real, s_flux);  // [field][facet][n_facet][lane]
  const int columns = (KG_LAW_DIMENSION + 1) * a.n_facet, n = a.n;
  const int32_t group = (int32_t)blockIdx.x;
  for (int k = (int)threadIdx.x; k < columns * LANES; k += THREADS) {
    const int column = k / LANES, lane = k % LANES;
    kg_real f[KG_LAW_FIELDS];
    kg_wave_facet_node(&a, group * LANES + lane, column / a.n_facet, column % a.n_facet, f);
    for (int i = 0; i < KG_LAW_FIELDS; ++i) s_flux[i * columns * LANES + k] = f[i];
  }
  __syncthreads();
  for (int k = (int)threadIdx.x; k < n * LANES; k += THREADS) {
    const int i = k / LANES, lane = k % LANES;
    const kg_real *const u = a.u + kg_wave_place(&a, group * LANES + lane, 0, 0);
    kg_real slope[KG_LAW_DIMENSION][KG_LAW_FIELDS], lifted[KG_LAW_FIELDS];
    for (int f = 0; f < KG_LAW_FIELDS; ++f) {
      for (int d = 0; d < KG_LAW_DIMENSION; ++d)
        slope[d][f] = times_row(n, a.derivative + (d * n + i) * n, u + f * n, 1);
      lifted[f] =
          times_row(columns, a.lift + i * columns, s_flux + f * columns * LANES + lane, LANES);
    }
    kg_wave_end_node(&a, group * LANES + lane, i, slope, lifted);
  }
}

kedge_status launch_stage(kedge_context *ctx, const kg_wave_args *a)
{
  if (a->kernel) return kg_wave_kernel_run(ctx, a->kernel, a);
  const size_t columns = (KG_LAW_DIMENSION + 1) * (size_t)a->n_facet;
  return kg_launch_shared(ctx, "wave_stage", (unsigned)a->n_groups, THREADS,
                          KG_LAW_FIELDS * columns * LANES * sizeof(kg_real), wave_stage, *a);
}

}  // namespace

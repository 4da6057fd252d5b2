/// @file
/// Teams of a GPU: a warp each, with scratch in shared memory.
#pragma once
#include "device/cuda_rt.h"
#include "ops/local/quadrature/team.h"

enum { KG_TEAMS_OF_BLOCK = 8 };  ///< at most

template <auto DO, typename Arguments>
__global__ void __launch_bounds__(32 * KG_TEAMS_OF_BLOCK)
    kg_team_kernel(const __grid_constant__ Arguments a, int32_t n, int scratch)
{
  extern __shared__ double s_scratch[];
  const int warp = threadIdx.x / 32;
  const int64_t i = (int64_t)blockIdx.x * (blockDim.x / 32) + warp;
  if (i >= n) return;
  const kg_team team = {(int)threadIdx.x % 32, s_scratch + (size_t)warp * scratch};
  DO(&a, (int32_t)i, team);
}

/// DO(&arguments, i, team) of each of n things, with so many doubles of scratch a team.
/// @retval KEDGE_ERR_UNSUPPORTED  the scratch of one team does not fit shared memory
template <auto DO, typename Arguments>
kedge_status kg_team_run(kedge_context *ctx, const char *name, int32_t n, size_t scratch,
                         const Arguments &arguments)
{
  if (n == 0) return KEDGE_OK;
  const size_t bytes = scratch * sizeof(double);
  const size_t fit = (size_t)kg_cuda(ctx)->shared_limit / (bytes ? bytes : 1);
  const unsigned teams = fit < 1                   ? 1
                         : fit < KG_TEAMS_OF_BLOCK ? (unsigned)fit
                                                   : (unsigned)KG_TEAMS_OF_BLOCK;
  const auto kernel = kg_team_kernel<DO, Arguments>;
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)kernel, teams * bytes, name));
  kernel<<<((unsigned)n + teams - 1) / teams, 32 * teams, teams * bytes, kg_cuda_stream(ctx)>>>(
      arguments, n, (int)scratch);
  return kg_cuda_launched(ctx, name);
}

// team_launch.cuh: kernels whose teams are warps, or several warps of a block.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/quadrature/team.h"

namespace
{

enum { KG_TEAM_WARPS = 8 };  // of a block, at most

template <auto DO, typename Arguments>
__global__ void __launch_bounds__(32 * KG_TEAM_WARPS)
    team_kernel(const __grid_constant__ Arguments a, int32_t n, int scratch, int threads)
{
  KG_SHARED(double, s_scratch);
  const int number = threadIdx.x / threads, teams = blockDim.x / threads;
  const int64_t i = (int64_t)blockIdx.x * teams + number;
  if (i >= n) return;
  const kg_team team = {(int)threadIdx.x % threads, s_scratch + (size_t)number * scratch, threads,
                        1 + number};
  DO(&a, (int32_t)i, team);
}

/// Run DO(&arguments, i, team) for i < n. A team has `scratch` doubles, and `threads` threads.
/// @retval KEDGE_ERR_UNSUPPORTED  the scratch of one team does not fit shared memory
template <auto DO, typename Arguments>
kedge_status kg_launch_teams(kedge_context *ctx, const char *name, int32_t n, size_t scratch,
                             const Arguments &arguments, int threads = 32)
{
  if (n == 0) return KEDGE_OK;
  const size_t bytes = scratch * sizeof(double);
  const size_t fit = (size_t)kg_cuda(ctx)->shared_limit / (bytes ? bytes : 1);
  const size_t most = 32 * KG_TEAM_WARPS / (size_t)threads;
  const unsigned teams = fit < 1 ? 1 : (unsigned)(fit < most ? fit : most);
  return kg_launch_shared(ctx, name, ((unsigned)n + teams - 1) / teams, threads * teams,
                          teams * bytes, team_kernel<DO, Arguments>, arguments, n, (int)scratch,
                          threads);
}

}  // namespace

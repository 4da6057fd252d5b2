/// @file
/// Work on one element by a team: warps of a GPU, one thread of the host. One source for both.
///
/// A loop of KG_TEAM_EACH gives each thread of a team its share; what one thread writes others may
/// read after kg_team_wait(). Sums over a team are for teams of one warp.
#pragma once
#include "core/inline.h"
#ifdef __CUDACC__
#include "device/cuda_only.cuh"
#endif

#ifdef __CUDA_ARCH__
#define KG_TEAM_THREADS    32
#define KG_TEAM_STEP(team) (team).threads
#else
#define KG_TEAM_THREADS    1
#define KG_TEAM_STEP(team) 1
#endif

/// i = begin, begin + 1, ... before end, those of the calling thread.
#define KG_TEAM_EACH(team, i, begin, end) \
  for (int i = (begin) + (team).thread; i < (end); i += KG_TEAM_STEP(team))

typedef struct kg_team {
  int thread;
  double *scratch;  ///< shared by the team
  int threads;      ///< whole warps; read on a GPU
  int barrier;      ///< of a block, that the team has to itself; read where it has several warps
} kg_team;

KG_INLINE void kg_team_wait(kg_team team)
{
#ifdef __CUDA_ARCH__
  if (team.threads == 32)
    __syncwarp();
  else
    kg::part_barrier(team.barrier, team.threads);
#else
  (void)team;
#endif
}

/// The sum over the team, in a fixed order, in all its threads.
KG_INLINE double kg_team_sum(double value)
{
#ifdef __CUDA_ARCH__
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
#endif
  return value;
}

/// The value of another thread, `offset` (a power of two) away; of the host its own.
KG_INLINE double kg_team_other(double value, int offset)
{
#ifdef __CUDA_ARCH__
  return __shfl_xor_sync(0xffffffffu, value, offset);
#else
  (void)offset;
  return value;
#endif
}

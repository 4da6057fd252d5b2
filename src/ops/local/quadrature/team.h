/// @file
/// Work on one element by a team: a warp on a GPU, one thread of the host. One source for both.
///
/// A loop of KG_TEAM_EACH gives each thread of a team its share; what one thread writes others may
/// read after kg_team_wait().
#pragma once
#include "core/inline.h"

#ifdef __CUDA_ARCH__
#define KG_TEAM_THREADS 32
#else
#define KG_TEAM_THREADS 1
#endif

/// i = begin, begin + 1, ... before end, those of the calling thread.
#define KG_TEAM_EACH(team, i, begin, end) \
  for (int i = (begin) + (team).thread; i < (end); i += KG_TEAM_THREADS)

typedef struct kg_team {
  int thread;
  double *scratch;  ///< shared by the team
} kg_team;

KG_INLINE void kg_team_wait(void)
{
#ifdef __CUDA_ARCH__
  __syncwarp();
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

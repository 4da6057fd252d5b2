/// @file
/// Sums of several numbers over the lanes of a warp, joined in a fixed order.
#pragma once
#include "device/cuda_only.cuh"

/// Join what the lanes of a warp have, so that lane 0 has all. All lanes call it.
/// @tparam JOIN  adds a part, its first argument, to a sum
template <auto JOIN, typename SUM>
__device__ void kg_join_lanes(SUM &sum)
{
  enum { WORDS = sizeof(SUM) / sizeof(double) };
  static_assert(sizeof(SUM) == WORDS * sizeof(double), "shuffled as numbers");
  for (int away = 16; away > 0; away /= 2) {
    SUM other;
    double mine[WORDS], theirs[WORDS];
    memcpy(mine, &sum, sizeof sum);
#pragma unroll
    for (int k = 0; k < WORDS; ++k) theirs[k] = __shfl_down_sync(0xffffffffu, mine[k], away);
    memcpy(&other, theirs, sizeof other);
    if ((int)(threadIdx.x % 32) < away) JOIN(&other, &sum);
  }
}

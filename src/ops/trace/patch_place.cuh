// patch_place.cuh: where the edges of a patch begin, and how many they are.
#pragma once
#include <cuda_pipeline.h>

#include "ops/trace/trace_apply.h"

namespace
{

/// First edge inside, first halo entry, and their numbers.
struct patch_place {
  int edge0, n_inside, halo0, n_halo;
};

/// Beyond the last patch there are none.
__device__ __forceinline__ patch_place place_of(const kg_trace_apply_args &a, int patch)
{
  patch_place p = {0, 0, 0, 0};
  if (patch >= a.batch.count.n_patches) return p;
  p.edge0 = a.batch.arrays.patch_edge[patch];
  p.halo0 = a.batch.arrays.patch_halo[patch];
  p.n_inside = a.batch.arrays.patch_edge[patch + 1] - p.edge0;
  p.n_halo = a.batch.arrays.patch_halo[patch + 1] - p.halo0;
  return p;
}

/// A block of T threads sends for the halo list of a patch.
template <int T>
__device__ __forceinline__ void fetch_halo(const kg_trace_apply_args &a, const patch_place &p,
                                           uint32_t *s_halo)
{
  for (int i = threadIdx.x; i < p.n_halo; i += T)
    __pipeline_memcpy_async(s_halo + i, a.batch.arrays.halo_edge + p.halo0 + i, 4);
}

}  // namespace

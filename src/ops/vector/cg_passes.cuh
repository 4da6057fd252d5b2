// cg_passes.cuh: what the vector passes of conjugate gradients share, with and without a
// preconditioner: what a sum says that they read.
#pragma once
#include "ops/vector/cg_vectors.h"
#include "ops/vector/row_passes.cuh"

namespace
{

/// Whether a sum that the kernels in front have made lets CG go on; else one thread notes the stop.
/// All blocks read the same sum, which no kernel changes that judges it, so all of them leave or
/// none does, whether they see the note or not.
__device__ __forceinline__ bool is_fit(kg_cg_state *state, double sum, int32_t not_positive)
{
  const int32_t stop = kg_cg_judge(sum, not_positive);
  if (stop != KG_CG_RUNNING && blockIdx.x == 0 && threadIdx.x == 0) state->stop = stop;
  return stop == KG_CG_RUNNING;
}

}  // namespace

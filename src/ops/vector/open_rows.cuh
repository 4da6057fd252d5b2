// open_rows.cuh: products whose rows between patches are open (ops/pass.h), as kernels read them.
#pragma once
#include "device/cuda_rt.h"
#include "ops/pass.h"
#include "ops/real.h"

namespace
{

/// Row i of A p: what is in ap, and the halo where the row is open.
__device__ __forceinline__ double closed_row(double ap, const kg_open &open, int64_t i)
{
  const int64_t at = i - open.first;
  return at >= 0 && at < open.n ? ap + ((const kg_real *)open.halo)[at] : ap;
}

}  // namespace

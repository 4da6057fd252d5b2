// row_passes.cuh: how passes over the rows of vectors are launched: as many blocks as the device
// holds at once stride over the rows, and there are no more than KG_PIECES of them, one a part of a
// sum.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/pass.h"
#include "ops/real.h"

namespace
{

enum { THREADS = 512, BLOCKS = 2 };  // BLOCKS: on a multiprocessor

/// The arguments have n rows.
template <class Arguments>
kedge_status launch(kedge_context *ctx, const Arguments *a, void (*kernel)(Arguments, unsigned *),
                    const char *name)
{
  int64_t pieces = (a->n + 2 * THREADS - 1) / (2 * THREADS);
  if (pieces > KG_PIECES) pieces = KG_PIECES;
  // One block at least: without rows the sums are still written.
  return kg_launch(ctx, name, kg_cuda_blocks(ctx, pieces, BLOCKS), THREADS, 0, kernel, *a,
                   kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
}

/// Row i of A p: what is in ap, and the halo where the row is open.
__device__ __forceinline__ double closed_row(double ap, const kg_open &open, int64_t i)
{
  const int64_t at = i - open.first;
  return at >= 0 && at < open.n ? ap + ((const kg_real *)open.halo)[at] : ap;
}

}  // namespace

// cg_passes.cuh: what the vector passes of conjugate gradients share, with and without a
// preconditioner: how they are launched, and rows of A p that are open.
#pragma once
#include "backend/cuda_rt.h"
#include "ops/cg_vectors.h"
#include "ops/real.h"

namespace
{

enum { THREADS = 512, BLOCKS = 2 };  // BLOCKS: on a multiprocessor

/// Row i of A p: what is in ap, and the halo where the row is open.
__device__ __forceinline__ double closed_row(double ap, const kg_open_rows &open, int64_t i)
{
  const int64_t at = i - open.first;
  return at >= 0 && at < open.n ? ap + ((const kg_real *)open.halo)[at] : ap;
}

kedge_status launch(kedge_context *ctx, const kg_cg_vectors_args *a,
                    void (*kernel)(kg_cg_vectors_args, unsigned *), const char *name)
{
  int64_t pieces = (a->n + 2 * THREADS - 1) / (2 * THREADS);
  if (pieces > KG_PIECES) pieces = KG_PIECES;
  // One block at least: without rows the sums are still written.
  kernel<<<kg_cuda_blocks(ctx, pieces, BLOCKS), THREADS, 0, kg_cuda_stream(ctx)>>>(
      *a, kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
  return kg_cuda_launched(ctx, name);
}

}  // namespace

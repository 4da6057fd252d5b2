// unknowns_cuda.cu: unknowns of a caller to rows of the trace, and back (unknowns.h).
// Map     thread = number, in the order of the caller
// Cost    16 bytes a number and 4 an edge
#include "device/cuda_each.cuh"
#include "ops/vector/unknowns.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) move_kernel(const kg_unknowns_args a)
{
  const int64_t i = kg_thread_number(), k = i / a.m;
  if (k < a.n_edges) kg_unknown_move(&a, k, (int)(i - k * a.m));
}
}  // namespace

extern "C" kedge_status kg_unknowns_move_cuda(kedge_context *ctx, const kg_unknowns_args *a)
{
  return kg_launch_each<THREADS>(ctx, "moving unknowns", a->n_edges * a->m, move_kernel, *a);
}

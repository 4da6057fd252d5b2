// edge_pairs_cuda.cu: pairs of edges and their blocks (edge_pairs.h).
// Layout  local [group][n (n+1) / 2][lane], W [edge group][m (m+1) / 2][lane]
// Map     thread = free edge. Edges are numbered along the elements: a warp reads entries of K^e of
//         elements near each other.
// Cost    kg_edge_pairs_cost(), once a solve
#include "device/cuda_each.cuh"
#include "ops/smooth/edge_pairs.h"

namespace
{

enum { BLOCK = 128 };

__device__ void factor_or_fault(const kg_edge_pairs_args *a, int64_t edge)
{
  if (!kg_pair_factor(a, (int32_t)edge)) atomicMin(a->fault, (int32_t)edge);
}

}  // namespace

extern "C" kedge_status kg_edge_pairs_cuda(kedge_context *ctx, const kg_edge_pairs_args *a,
                                           kg_pairs_step step)
{
  const int32_t n = a->batch.count.n_free;
  if (step == KG_PAIRS_WANT) return kg_do_each<BLOCK, kg_pair_want>(ctx, "pair_want", n, *a);
  if (step == KG_PAIRS_MATCH) return kg_do_each<BLOCK, kg_pair_match>(ctx, "pair_match", n, *a);
  return kg_do_each<BLOCK, factor_or_fault>(ctx, "pair_factor", n, *a);
}

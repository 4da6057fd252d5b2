// vertex_transfer_cuda.cu: c = P^T (r - A z), thread = unknown, and z += P c with its product, thread =
// edge (vertex_transfer.h). Both read what lies near in memory because vertices and edges are numbered
// along the elements; no shared memory.
// Cost    kg_vertex_transfer_cost()
#include "backend/cuda_rt.h"
#include "ops/vertex_transfer.h"

namespace
{
constexpr int BLOCK = 256;

unsigned blocks(int64_t n)
{
  return (unsigned)((n + BLOCK - 1) / BLOCK);
}

__global__ void __launch_bounds__(BLOCK)
    KG_REAL(vertex_restrict_kernel)(const kg_vertex_restrict_args a)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i < a.space.n_rows) a.coarse[i] = kg_vertex_gather(&a, (int32_t)i);
}

__global__ void __launch_bounds__(BLOCK)
    KG_REAL(vertex_prolong_kernel)(const kg_vertex_prolong_args a)
{
  const int64_t edge = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (edge < a.correction.n_edges) kg_vertex_add(&a, (int32_t)edge);
}
}  // namespace

extern "C" kedge_status KG_REAL(kg_vertex_restrict_cuda)(kedge_context *ctx,
                                                         const kg_vertex_restrict_args *a)
{
  if (a->space.n_rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  KG_REAL(vertex_restrict_kernel)<<<blocks(a->space.n_rows), BLOCK, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "vertex_restrict");
}

extern "C" kedge_status KG_REAL(kg_vertex_prolong_cuda)(kedge_context *ctx,
                                                        const kg_vertex_prolong_args *a)
{
  if (a->correction.n_edges == 0) return KEDGE_OK;
  KG_REAL(vertex_prolong_kernel)<<<blocks(a->correction.n_edges), BLOCK, 0, kg_cuda_stream(ctx)>>>(
      *a);
  return kg_cuda_launched(ctx, "vertex_prolong");
}

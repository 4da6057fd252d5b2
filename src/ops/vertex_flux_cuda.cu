// vertex_flux_cuda.cu: the fluxes of coarse functions (vertex_flux.h), thread = edge. Elements of
// neighbouring edges lie near each other.
// Cost    kg_vertex_flux_cost(), once a solve
#include "backend/cuda_rt.h"
#include "ops/vertex_flux.h"

namespace
{
constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK) vertex_flux_kernel(const kg_vertex_flux_args a)
{
  const int64_t edge = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (edge < a.batch.count.n_free) kg_vertex_flux_of(&a, (int32_t)edge);
}
}  // namespace

extern "C" kedge_status kg_vertex_flux_fill_cuda(kedge_context *ctx, const kg_vertex_flux_args *a)
{
  const int64_t n = a->batch.count.n_free;
  if (n == 0) return KEDGE_OK;  // an empty grid is a launch error
  vertex_flux_kernel<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "vertex_flux");
}

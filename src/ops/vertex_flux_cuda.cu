// vertex_flux_cuda.cu: the fluxes of coarse functions (vertex_flux.h), thread = edge. Elements of
// neighbouring edges lie near each other.
// Cost    kg_vertex_flux_cost(), once a solve
#include "backend/cuda_each.cuh"
#include "ops/vertex_flux.h"

namespace
{
constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK) vertex_flux_kernel(const kg_vertex_flux_args a)
{
  const int64_t edge = kg_thread_number();
  if (edge < a.batch.count.n_free) kg_vertex_flux_of(&a, (int32_t)edge);
}
}  // namespace

extern "C" kedge_status kg_vertex_flux_fill_cuda(kedge_context *ctx, const kg_vertex_flux_args *a)
{
  return kg_launch_each<BLOCK>(ctx, "vertex_flux", a->batch.count.n_free, vertex_flux_kernel, *a);
}

// vertex_modes_cuda.cu: phi . A phi of the modes at the vertices (vertex_modes.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][3][lane]
// Map     thread = element: each entry of K^e a whole line for a warp; then thread = vertex. The vertices of
//         neighbouring elements read corners near each other.
// Cost    kg_vertex_modes_cost(), once a solve
#include "backend/cuda_each.cuh"
#include "ops/vertex_modes.h"

namespace
{
constexpr int BLOCK = 128;

__global__ void __launch_bounds__(BLOCK) vertex_mode_corner_kernel(const kg_vertex_modes_args a)
{
  const int64_t e = kg_thread_number();
  if (e < a.batch.count.n_elements) kg_vertex_mode_corners(&a, (int32_t)e);
}

__global__ void __launch_bounds__(BLOCK) vertex_mode_weight_kernel(const kg_vertex_modes_args a)
{
  const int64_t i = kg_thread_number();
  if (i < a.modes.space.n_rows && !kg_vertex_mode_weigh(&a, (int32_t)i))
    atomicMin(a.fault, (int32_t)i);
}
}  // namespace

extern "C" kedge_status kg_vertex_modes_fill_cuda(kedge_context *ctx, const kg_vertex_modes_args *a)
{
  KG_TRY(kg_launch_each<BLOCK>(ctx, "vertex modes of the elements", a->batch.count.n_elements,
                               vertex_mode_corner_kernel, *a));
  return kg_launch_each<BLOCK>(ctx, "weights of the vertex modes", a->modes.space.n_rows,
                               vertex_mode_weight_kernel, *a);
}

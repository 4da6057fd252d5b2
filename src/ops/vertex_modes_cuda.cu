// vertex_modes_cuda.cu: phi . A phi of the modes at the vertices (vertex_modes.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][3][lane]
// Map     thread = element: each entry of K^e a whole line for a warp; then thread = vertex. The vertices of
//         neighbouring elements read corners near each other.
// Cost    kg_vertex_modes_cost(), once a solve
#include "backend/cuda_rt.h"
#include "ops/vertex_modes.h"

namespace
{
constexpr int BLOCK = 128;

unsigned blocks(int64_t n)
{
  return (unsigned)((n + BLOCK - 1) / BLOCK);
}

__global__ void __launch_bounds__(BLOCK) vertex_mode_corner_kernel(const kg_vertex_modes_args a)
{
  const int64_t e = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (e < a.batch.count.n_elements) kg_vertex_mode_corners(&a, (int32_t)e);
}

__global__ void __launch_bounds__(BLOCK) vertex_mode_weight_kernel(const kg_vertex_modes_args a)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i < a.modes.space.n_rows) kg_vertex_mode_weigh(&a, (int32_t)i);
}
}  // namespace

extern "C" kedge_status kg_vertex_modes_fill_cuda(kedge_context *ctx, const kg_vertex_modes_args *a)
{
  const cudaStream_t stream = kg_cuda_stream(ctx);
  if (a->modes.space.n_rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  vertex_mode_corner_kernel<<<blocks(a->batch.count.n_elements), BLOCK, 0, stream>>>(*a);
  KG_TRY(kg_cuda_launched(ctx, "vertex modes of the elements"));
  vertex_mode_weight_kernel<<<blocks(a->modes.space.n_rows), BLOCK, 0, stream>>>(*a);
  return kg_cuda_launched(ctx, "weights of the vertex modes");
}

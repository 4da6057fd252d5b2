// vertex_modes_cuda.cu: phi . A phi of the modes at the vertices (vertex_modes.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][3 or 4][lane]
// Map     thread = element: each entry of K^e a whole line for a warp; then thread = vertex. The
//         vertices of neighbouring elements read corners near each other.
// Cost    kg_vertex_modes_cost(), once a solve
#include "device/cuda_each.cuh"
#include "ops/smooth/vertex_modes.h"

namespace
{
enum { BLOCK = 128 };

__device__ __forceinline__ void weigh(const kg_vertex_modes_args *a, int32_t i)
{
  if (!kg_vertex_mode_weigh(a, i)) atomicMin(a->fault, i);
}
}  // namespace

extern "C" kedge_status kg_vertex_modes_fill_cuda(kedge_context *ctx, const kg_vertex_modes_args *a)
{
  KG_TRY((kg_do_each<BLOCK, kg_vertex_mode_element>(ctx, "vertex modes of the elements",
                                                    a->batch.count.n_groups * KG_LANES, *a)));
  return kg_do_each<BLOCK, weigh>(ctx, "weights of the vertex modes", a->modes.space.n_rows, *a);
}

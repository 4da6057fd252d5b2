// constant_modes_cuda.cu: the first row of u, q_x and q_y of every group.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     thread = lane; a warp copies three rows of 256 bytes.
// Cost    48 bytes a triangle, read and written; no operations.
#include "device/cuda_each.cuh"
#include "ops/local/recover/constant_modes.h"

extern "C" kedge_status kg_constant_modes_cuda(kedge_context *ctx, const kg_constant_modes_args *a)
{
  return kg_do_each<256, kg_constant_modes_of>(ctx, "constant_modes", a->n_groups * KG_LANES, *a);
}

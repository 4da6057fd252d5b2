// space_materials_cuda.cu: the table of materials of tetrahedra (space_materials.h).
// Map     thread = lane
// Cost    of an element 8 bytes a coefficient, gathered, 8 of its index, and 72 written
#include "device/cuda_each.cuh"
#include "ops/local/tetrahedron/space_materials.h"

extern "C" kedge_status kg_space_table_cuda(kedge_context *ctx, const kg_space_table_args *a)
{
  return kg_do_each<256, kg_space_table_put>(ctx, "materials of tetrahedra", a->n_lanes, *a);
}

// element_materials_cuda.cu: the table of materials of elements (element_materials.h).
// Map     thread = lane
// Cost    of an element 8 bytes a coefficient, gathered, 8 of its index, and up to 88 written
#include "device/cuda_each.cuh"
#include "ops/local/triangle/element_materials.h"

extern "C" kedge_status kg_element_materials_cuda(kedge_context *ctx,
                                                  const kg_element_materials_args *a)
{
  return kg_do_each<256, kg_element_material>(ctx, "materials of elements", a->n_lanes, *a);
}

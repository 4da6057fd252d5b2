#include "ops/local/triangle/element_materials.h"

#include "device/loop.h"

KG_OPERATOR(kg_element_materials, kg_element_materials_args)

kedge_status kg_element_materials_host(kedge_context *ctx, const kg_element_materials_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_lanes, 16))
  for (int64_t i = 0; i < a->n_lanes; ++i) kg_element_material(a, i);
  return KEDGE_OK;
}

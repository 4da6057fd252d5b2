#include "ops/local/tetrahedron/space_materials.h"

#include "device/loop.h"

KG_OPERATOR(kg_space_table, kg_space_table_args)

kedge_status kg_space_table_host(kedge_context *ctx, const kg_space_table_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_lanes, 16))
  for (int64_t i = 0; i < a->n_lanes; ++i) kg_space_table_put(a, i);
  return KEDGE_OK;
}

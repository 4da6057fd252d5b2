#include "ops/local/triangle/solution_loads.h"

#include "device/loop.h"

KG_OPERATOR(kg_solution_loads, kg_solution_loads_args)

kedge_status kg_solution_loads_host(kedge_context *ctx, const kg_solution_loads_args *a)
{
  const int64_t lanes = (a->n_elements + KG_LANES - 1) / KG_LANES * KG_LANES;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, lanes, 2 * a->n_modes))
  for (int64_t i = 0; i < lanes; ++i) kg_solution_load(a, i);
  return KEDGE_OK;
}

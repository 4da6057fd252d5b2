#include "ops/local/recover/constant_modes.h"

#include "device/loop.h"

KG_OPERATOR(kg_constant_modes, kg_constant_modes_args)

kedge_status kg_constant_modes_host(kedge_context *ctx, const kg_constant_modes_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->n_groups, KG_LANES * 32))
  for (int32_t i = 0; i < a->n_groups * KG_LANES; ++i) kg_constant_modes_of(a, i);
  return KEDGE_OK;
}

kg_cost kg_constant_modes_cost(int64_t n_elements)
{
  return (kg_cost){.bytes = 6.0 * sizeof(double) * (double)n_elements};
}

#include "ops/sample/node_values.h"

#include "device/loop.h"

KG_OPERATOR(kg_node_values, kg_node_values_args)

kedge_status kg_node_values_host(kedge_context *ctx, const kg_node_values_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->n_elements, (int64_t)a->n_nodes * a->n_modes))
  for (int64_t e = 0; e < a->n_elements; ++e)
    for (int q = 0; q < a->n_nodes; ++q) kg_node_value(a, e, q);
  return KEDGE_OK;
}

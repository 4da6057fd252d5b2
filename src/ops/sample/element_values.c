#include "ops/sample/element_values.h"

#include "device/loop.h"

KG_OPERATOR(kg_element_values, kg_element_values_args)

kedge_status kg_element_values_host(kedge_context *ctx, const kg_element_values_args *a)
{
  const int64_t n = kg_element_values_count(a);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 1))
  for (int64_t i = 0; i < n; ++i) kg_element_value(a, i);
  return KEDGE_OK;
}

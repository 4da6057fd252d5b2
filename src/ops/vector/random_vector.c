#include "ops/vector/random_vector.h"

#include "device/loop.h"

KG_OPERATOR(kg_random_vector, kg_random_vector_args)

kedge_status kg_random_vector_host(kedge_context *ctx, const kg_random_vector_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 8))
  for (int64_t i = 0; i < a->n; ++i) kg_random_entry(a, i);
  return KEDGE_OK;
}

#include "ops/sample/locate.h"

#include "device/loop.h"

KG_OPERATOR(kg_locate, kg_locate_args)

kedge_status kg_locate_host(kedge_context *ctx, const kg_locate_args *a)
{
#pragma omp parallel for schedule(dynamic, 256) num_threads(kg_loop_threads(ctx, a->n, 1000))
  for (int64_t i = 0; i < a->n; ++i)
    if (a->z)
      kg_locate_point(3, a, i);
    else
      kg_locate_point(2, a, i);
  return KEDGE_OK;
}

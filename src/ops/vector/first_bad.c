#include "ops/vector/first_bad.h"

#include <math.h>

#include "device/loop.h"

KG_OPERATOR(kg_first_bad, kg_first_bad_args)

kedge_status kg_first_bad_host(kedge_context *ctx, const kg_first_bad_args *a)
{
  const float *const narrow = (const float *)(const void *)a->x;
  const bool single = a->number == KG_SINGLE;
  int64_t bad = a->n;
#pragma omp parallel for reduction(min : bad) num_threads(kg_loop_threads(ctx, a->n, 1))
  for (int64_t i = 0; i < a->n; ++i)
    if (!(single ? isfinite(narrow[i]) : isfinite(a->x[i])) && i < bad) bad = i;
  *a->bad = bad < a->n ? bad : -1;
  return KEDGE_OK;
}

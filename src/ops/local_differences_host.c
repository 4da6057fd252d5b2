#include "core/context.h"
#include "ops/local_differences.h"

kedge_status kg_local_differences_host(kedge_context *ctx, const kg_local_differences_args *a)
{
  const int m = a->size.n_edge, n = a->size.n_trace;
  const int64_t group_count = (int64_t)a->size.n_packed * KG_LANES;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t group = 0; group < a->n_groups; ++group) {
    const double *k = a->from + group * group_count;
    float *to = a->to + group * group_count;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, to += KG_LANES)
        for (int lane = 0; lane < KG_LANES; ++lane)
          to[lane] = (float)kg_local_difference(k + lane, m, i, j);
  }
  return KEDGE_OK;
}

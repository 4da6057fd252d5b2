#include "device/context.h"
#include "ops/local/convert.h"
#include "ops/local/differences.h"
#include "ops/local/full.h"

kedge_status kg_local_differences_host(kedge_context *ctx, const kg_local_convert_args *a)
{
  const int m = a->m, n = a->from.n;
  const int64_t group_count = (int64_t)a->from.rows * KG_LANES;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t group = 0; group < a->to.n_lanes / KG_LANES; ++group) {
    const double *k = (const double *)a->from.data + group * group_count;
    float *to = (float *)a->to.data + group * group_count;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, to += KG_LANES)
        for (int lane = 0; lane < KG_LANES; ++lane)
          to[lane] = (float)kg_local_difference(k + lane, m, i, j);
  }
  return KEDGE_OK;
}

kedge_status kg_local_full_host(kedge_context *ctx, const kg_local_convert_args *a)
{
  const int m = a->m, n = a->from.n;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t lane = 0; lane < a->to.n_lanes; ++lane) {
    const double *from = kg_packed_lane(&a->from, lane);
    double *to = (double *)a->to.data + (size_t)lane * (size_t)a->to.rows;
    for (int l = 0; l < n / m; ++l)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
          to[kg_full_entry(n, m, l, i, j)] = from[kg_local_at(l * m + i, j)];
  }
  return KEDGE_OK;
}

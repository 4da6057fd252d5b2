#include "ops/local/convert.h"

#include "device/loop.h"
#include "ops/local/differences.h"
#include "ops/local/full.h"
#include "ops/vector/round.h"

kedge_status kg_local_differences_host(kedge_context *ctx, const kg_local_convert_args *a)
{
  const int m = a->m, n = a->from.n;
  const int64_t group_count = (int64_t)a->from.rows * KG_LANES;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->to.n_lanes, a->from.rows))
  for (int32_t group = 0; group < a->to.n_lanes / KG_LANES; ++group) {
    const double *k = (const double *)a->from.data + group * group_count;
    float *to = (float *)a->to.data + group * group_count;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, to += KG_LANES)
        for (int lane = 0; lane < KG_LANES; ++lane)
          to[lane] = (float)kg_local_difference(k + lane, n, m, i, j);
  }
  return KEDGE_OK;
}

kedge_status kg_local_full_host(kedge_context *ctx, const kg_local_convert_args *a)
{
  const int m = a->m, n = a->from.n;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->to.n_lanes, a->to.rows))
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

KG_OPERATOR(kg_local_differences, kg_local_convert_args)
KG_OPERATOR(kg_local_full, kg_local_convert_args)

static bool is_rounded(const kg_local *from, const kg_local *to)
{
  return from->layout == to->layout && from->number == KG_DOUBLE && to->number == KG_SINGLE;
}

kedge_status kg_local_convert(kedge_context *ctx, const kg_local_convert_args *a)
{
  const kg_local *from = &a->from, *to = &a->to;
  const bool from_packed = from->layout == KG_LAYOUT_PACKED && from->number == KG_DOUBLE;
  assert(from->first_lane == to->first_lane && from->n_lanes >= to->n_lanes);
  if (is_rounded(from, to))
    return kg_round(ctx, &(kg_round_args){
                             .n = (int64_t)kg_local_count(to), .from = from->data, .to = to->data});
  if (from_packed && to->layout == KG_LAYOUT_DIFFERENCES && to->number == KG_SINGLE)
    return kg_local_differences(ctx, a);
  if (from_packed && to->layout == KG_LAYOUT_FULL && to->number == KG_DOUBLE)
    return kg_local_full(ctx, a);
  return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "local matrices have no conversion from layout %d to %d",
                 (int)from->layout, (int)to->layout);
}

kg_cost kg_local_convert_cost(const kg_local *from, const kg_local *to, int64_t n_elements)
{
  if (is_rounded(from, to)) return kg_round_cost((int64_t)kg_local_count(to));
  const double bytes = (double)kg_number_bytes(from->number) * from->rows +
                       (double)kg_number_bytes(to->number) * to->rows;
  const double flops = to->layout == KG_LAYOUT_DIFFERENCES ? 2.0 * from->n + 7.0 : 0.0;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}

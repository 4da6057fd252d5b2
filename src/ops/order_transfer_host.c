#include "core/context.h"
#include "ops/order_transfer.h"

static void copy_row(double *to, const double *from)
{
#pragma omp simd
  for (int lane = 0; lane < KG_LANES; ++lane) to[lane] = from[lane];
}

kedge_status kg_order_local_host(kedge_context *ctx, const kg_order_local_args *a)
{
  const int n = kg_order_unknowns(a), fluxes = kg_order_fluxes(a);
  const size_t from_group = (size_t)kg_order_rows(a, a->from_size) * KG_LANES;
  const size_t to_group = (size_t)kg_order_rows(a, a->to_size) * KG_LANES;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t g = 0; g < a->n_groups; ++g) {
    const double *from = a->from + (size_t)g * from_group;
    double *to = a->to + (size_t)g * to_group;
    for (int row = 0; row < fluxes; ++row, to += KG_LANES, from += KG_LANES) copy_row(to, from);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, to += KG_LANES) {
        const int row = kg_packed_entry(kg_order_unknown(a, i), kg_order_unknown(a, j));
        copy_row(to, from + (size_t)row * KG_LANES);
      }
  }
  return KEDGE_OK;
}

kedge_status kg_order_restrict_host(kedge_context *ctx, const kg_order_vector_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t edge = 0; edge < a->n_edges; ++edge)
    for (int k = 0; k < a->m_to; ++k) {
      const int64_t at = edge * a->m_from + k;
      a->to[edge * a->m_to + k] = a->from[at] - (a->minus ? a->minus[at] : 0.0);
    }
  return KEDGE_OK;
}

kedge_status kg_order_add_host(kedge_context *ctx, const kg_order_vector_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t edge = 0; edge < a->n_edges; ++edge)
    for (int k = 0; k < a->m_from; ++k) a->to[edge * a->m_to + k] += a->from[edge * a->m_from + k];
  return KEDGE_OK;
}

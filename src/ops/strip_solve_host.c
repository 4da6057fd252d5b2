#include "core/context.h"
#include "ops/strip_solve.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1 };

kedge_status KG_REAL(kg_strip_fill_host)(kedge_context *ctx, const kg_strip_fill_args *a)
{
  const int m = a->batch.reference.size.n_edge;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t e = 0; e < a->batch.count.n_elements; ++e)
    for (int slot = 0; slot <= 2; slot += 2) {
      kg_real *w = (kg_real *)a->strips.third + ((int64_t)e * 2 + slot / 2) * m * m;
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < m; ++i) w[k * m + i] = kg_strip_entry(a, e, slot, k, i);
    }
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_strip_condense_host)(kedge_context *ctx, const kg_strip_args *a)
{
  const int m = a->batch.reference.size.n_edge;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge)
    for (int i = 0; i < m; ++i)
      ((kg_real *)a->y)[(int64_t)edge * m + i] = kg_strip_condensed(a, m, edge, i);
  return KEDGE_OK;
}

kedge_status KG_REAL(kg_strip_expand_host)(kedge_context *ctx, const kg_strip_args *a)
{
  const int m = a->batch.reference.size.n_edge;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge) {
    kg_real out[MODES_MAX], *v = (kg_real *)a->v + (int64_t)edge * m;
    for (int k = 0; k < m; ++k) out[k] = kg_strip_expanded(a, m, edge, k);
    for (int k = 0; k < m; ++k) v[k] = out[k];
  }
  return KEDGE_OK;
}

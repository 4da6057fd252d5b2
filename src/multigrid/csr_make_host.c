#include "core/context.h"
#include "multigrid/csr_make.h"

kedge_status kg_csr_terms_host(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->a.n_rows; ++i) length[i] = kg_csr_terms(args, i);
  return KEDGE_OK;
}

kedge_status kg_csr_count_host(kedge_context *ctx, const kg_csr_make_args *args,
                               const int64_t *begin, int32_t *scratch, int32_t *length)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->a.n_rows; ++i) {
    kg_csr_list list = {0, scratch + begin[i], NULL};
    kg_csr_add_row(args, i, &list);
    length[i] = list.n;
  }
  return KEDGE_OK;
}

kedge_status kg_csr_fill_host(kedge_context *ctx, const kg_csr_make_args *args,
                              const int64_t *begin, kg_csr_place place)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i <= args->a.n_rows; ++i) {
    place.row[i] = (int32_t)begin[i];
    if (i == args->a.n_rows) continue;
    kg_csr_list list = {0, place.column + begin[i], place.value + begin[i]};
    kg_csr_add_row(args, i, &list);
  }
  return KEDGE_OK;
}

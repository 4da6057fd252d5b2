#include "device/context.h"
#include "precondition/amg/midpoints.h"

kedge_status kg_midpoints_ends_host(kedge_context *ctx, const kg_midpoints_make_args *args)
{
#pragma omp parallel num_threads(ctx->threads)
  {
#pragma omp for schedule(static)
    for (int32_t i = 0; i < args->n_next; ++i) kg_midpoints_number(args, i);
#pragma omp for schedule(static)
    for (int32_t i = 0; i < args->a.n_rows; ++i) kg_midpoints_ends(args, i);
  }
  return KEDGE_OK;
}

kedge_status kg_midpoints_fill_host(kedge_context *ctx, const kg_midpoints_make_args *args,
                                    const kg_csr_place *place)
{
  const int64_t *begin = args->work.begin;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->n_next; ++i) kg_midpoints_row(args, i, begin, place);
  place->row[args->n_next] = (int32_t)begin[args->n_next];
  return KEDGE_OK;
}

kedge_status kg_midpoints_restrict_host(kedge_context *ctx, const kg_midpoints_apply_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->midpoints.n_next; ++i) kg_midpoints_restrict_row(args, i);
  return KEDGE_OK;
}

kedge_status kg_midpoints_prolong_host(kedge_context *ctx, const kg_midpoints_apply_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->a.n_rows; ++i) kg_midpoints_prolong_row(args, i);
  return KEDGE_OK;
}

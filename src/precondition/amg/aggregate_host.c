#include "device/context.h"
#include "precondition/amg/aggregate.h"

kedge_status kg_aggregate_begin_host(kedge_context *ctx, const kg_aggregate_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) kg_aggregate_begin(args, i);
  return KEDGE_OK;
}

kedge_status kg_aggregate_round_host(kedge_context *ctx, const kg_aggregate_args *args)
{
  const int32_t n = args->matrix.n_rows;
  int32_t undecided = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < n; ++i) args->key_near[i] = kg_highest_key(args, args->key, i);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(| : undecided)
  for (int32_t i = 0; i < n; ++i) undecided |= !kg_aggregate_decide(args, i);
  *args->undecided = undecided;
  return KEDGE_OK;
}

kedge_status kg_aggregate_roots_host(kedge_context *ctx, const kg_aggregate_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) args->length[i] = kg_is_root(args, i);
  return KEDGE_OK;
}

kedge_status kg_aggregate_join_host(kedge_context *ctx, const kg_aggregate_args *args)
{
  const int32_t n = args->matrix.n_rows;
  int32_t *const near = args->length;  // roots have their numbers
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < n; ++i) near[i] = kg_aggregate_of_roots(args, i);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t i = 0; i < n; ++i) args->aggregate[i] = kg_aggregate_of_members(args, near, i);
  return KEDGE_OK;
}

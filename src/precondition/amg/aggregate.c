#include "precondition/amg/aggregate.h"

#include "device/loop.h"

enum {
  MANY_ROWS = 1 << 18,  // of more, a round takes longer than the host's look at its outcome
  FEW_LOOKS = 4,        // rounds before a look
};

static kedge_status begin(kedge_context *ctx, const kg_aggregate_args *args)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->matrix.n_rows, 4))
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) kg_aggregate_begin(args, i);
  return KEDGE_OK;
}

static kedge_status do_round(kedge_context *ctx, const kg_aggregate_args *args)
{
  const int32_t n = args->matrix.n_rows;
  int32_t undecided = 0;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 32))
  for (int32_t i = 0; i < n; ++i) kg_aggregate_look(args, i);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 32)) \
    reduction(|                                                                    \
              : undecided)
  for (int32_t i = 0; i < n; ++i) undecided |= !kg_aggregate_decide(args, i);
  *args->undecided = undecided;
  return KEDGE_OK;
}

static kedge_status find_roots(kedge_context *ctx, const kg_aggregate_args *args)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->matrix.n_rows, 4))
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) kg_aggregate_count_root(args, i);
  return KEDGE_OK;
}

static kedge_status join(kedge_context *ctx, const kg_aggregate_args *args)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->matrix.n_rows, 32))
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) kg_aggregate_join_roots(args, i);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->matrix.n_rows, 32))
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) kg_aggregate_join_members(args, i);
  return KEDGE_OK;
}

kedge_status kg_aggregate(kedge_context *ctx, const kg_aggregate_args *args, int32_t *n_aggregates)
{
  KG_TRY(KG_IMPLEMENTATION(ctx, begin, kg_aggregate_begin_cuda)(ctx, args));
  // Every round decides the undecided row with the highest key at least; a round too many changes
  // nothing.
  const int rounds = args->matrix.n_rows < MANY_ROWS ? FEW_LOOKS : 1;
  for (int32_t undecided = 1; undecided;) {
    for (int i = 0; i < rounds; ++i) {
      KG_TRY(kg_zero(ctx, args->undecided, sizeof undecided));
      KG_TRY(KG_IMPLEMENTATION(ctx, do_round, kg_aggregate_round_cuda)(ctx, args));
    }
    KG_TRY(kg_copy_out(ctx, &undecided, args->undecided, sizeof undecided));
  }
  KG_TRY(KG_IMPLEMENTATION(ctx, find_roots, kg_aggregate_roots_cuda)(ctx, args));
  int64_t total;
  KG_TRY(kg_scan(ctx, &args->work, args->matrix.n_rows, &total));
  *n_aggregates = (int32_t)total;
  return KG_IMPLEMENTATION(ctx, join, kg_aggregate_join_cuda)(ctx, args);
}

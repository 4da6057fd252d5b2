#include "multigrid/aggregate.h"

#include "core/context.h"
#include "multigrid/scan.h"

typedef kedge_status pass(kedge_context *, const kg_aggregate_args *);

kedge_status kg_aggregate(kedge_context *ctx, const kg_aggregate_args *args, int32_t *n_aggregates)
{
  static pass *const begin[] = KG_IMPLEMENTATIONS(kg_aggregate_begin_host, kg_aggregate_begin_cuda);
  static pass *const round[] = KG_IMPLEMENTATIONS(kg_aggregate_round_host, kg_aggregate_round_cuda);
  static pass *const roots[] = KG_IMPLEMENTATIONS(kg_aggregate_roots_host, kg_aggregate_roots_cuda);
  static pass *const join[] = KG_IMPLEMENTATIONS(kg_aggregate_join_host, kg_aggregate_join_cuda);
  KG_TRY(begin[ctx->backend](ctx, args));
  // Of the undecided rows the one with the highest key is decided in every round.
  for (int32_t undecided = 1; undecided;) {
    KG_TRY(kg_zero(ctx, args->undecided, sizeof undecided));
    KG_TRY(round[ctx->backend](ctx, args));
    KG_TRY(kg_copy_out(ctx, &undecided, args->undecided, sizeof undecided));
    KG_TRY(kg_sync(ctx));
  }
  KG_TRY(roots[ctx->backend](ctx, args));
  int64_t total;
  KG_TRY(kg_scan(ctx, args->length, args->matrix.n_rows, args->begin, &total));
  *n_aggregates = (int32_t)total;
  return join[ctx->backend](ctx, args);
}

#include "precondition/amg/aggregate.h"

#include "device/context.h"
#include "precondition/amg/scan.h"

enum {
  MANY_ROWS = 1 << 18,  // of more, a round takes longer than the host's look at its outcome
  FEW_LOOKS = 4,        // rounds before a look
};

typedef kedge_status pass(kedge_context *, const kg_aggregate_args *);

kedge_status kg_aggregate(kedge_context *ctx, const kg_aggregate_args *args, int32_t *n_aggregates)
{
  static pass *const begin[] = KG_IMPLEMENTATIONS(kg_aggregate_begin_host, kg_aggregate_begin_cuda);
  static pass *const round[] = KG_IMPLEMENTATIONS(kg_aggregate_round_host, kg_aggregate_round_cuda);
  static pass *const roots[] = KG_IMPLEMENTATIONS(kg_aggregate_roots_host, kg_aggregate_roots_cuda);
  static pass *const join[] = KG_IMPLEMENTATIONS(kg_aggregate_join_host, kg_aggregate_join_cuda);
  KG_TRY(begin[ctx->backend](ctx, args));
  // Every round decides the undecided row with the highest key at least; a round too many changes
  // nothing.
  const int rounds = args->matrix.n_rows < MANY_ROWS ? FEW_LOOKS : 1;
  for (int32_t undecided = 1; undecided;) {
    for (int i = 0; i < rounds; ++i) {
      KG_TRY(kg_zero(ctx, args->undecided, sizeof undecided));
      KG_TRY(round[ctx->backend](ctx, args));
    }
    KG_TRY(kg_copy_out(ctx, &undecided, args->undecided, sizeof undecided));
  }
  KG_TRY(roots[ctx->backend](ctx, args));
  int64_t total;
  KG_TRY(kg_scan(
      ctx,
      &(kg_scan_args){args->length, args->matrix.n_rows, args->begin, args->scan, args->scan_bytes},
      &total));
  *n_aggregates = (int32_t)total;
  return join[ctx->backend](ctx, args);
}

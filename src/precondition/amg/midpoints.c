#include "precondition/amg/midpoints.h"

#include "device/context.h"
#include "precondition/amg/scan.h"

kedge_status kg_midpoints_make(kedge_context *ctx, const kg_midpoints_make_args *args,
                               kg_arena *arena, kg_csr *next)
{
  static kedge_status (*const ends[])(kedge_context *, const kg_midpoints_make_args *) =
      KG_IMPLEMENTATIONS(kg_midpoints_ends_host, kg_midpoints_ends_cuda);
  static kedge_status (*const fill[])(kedge_context *, const kg_midpoints_make_args *,
                                      const kg_csr_place *) =
      KG_IMPLEMENTATIONS(kg_midpoints_fill_host, kg_midpoints_fill_cuda);
  const kg_csr_work *w = &args->work;
  int64_t total;
  kg_csr_place place;
  KG_TRY(kg_zero(ctx, args->number, (size_t)args->a.n_rows * sizeof *args->number));
  KG_TRY(ends[ctx->backend](ctx, args));
  KG_TRY(kg_scan(ctx, &(kg_scan_args){w->length, args->n_next, w->begin, w->scan, w->scan_bytes},
                 &total));
  KG_TRY(kg_csr_take(ctx, arena, (kg_csr_form){.square = true}, args->n_next, total, next, &place));
  return fill[ctx->backend](ctx, args, &place);
}

KG_OPERATOR(kg_midpoints_restrict, kg_midpoints_apply_args)
KG_OPERATOR(kg_midpoints_prolong, kg_midpoints_apply_args)

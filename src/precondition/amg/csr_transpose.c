#include "precondition/amg/csr_transpose.h"

#include "device/context.h"

kedge_status kg_csr_transpose(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                              kg_arena *work, kg_arena *arena, kg_csr *out)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr *, int32_t, kg_arena *,
                                      kg_csr_place) =
      KG_IMPLEMENTATIONS(kg_csr_transpose_host, kg_csr_transpose_cuda);
  kg_csr_place place;
  const kg_csr_form form = {.parts = true};
  KG_TRY(kg_csr_take(ctx, arena, form, n_columns, matrix->n_entries, out, &place));
  const kg_arena_mark mark = kg_arena_now(work);
  const kedge_status status = impl[ctx->backend](ctx, matrix, n_columns, work, place);
  kg_arena_return(ctx, work, mark);
  return status;
}

#include "multigrid/csr_transpose.h"

#include "core/context.h"

kedge_status kg_csr_transpose(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                              kg_csr_owned *out)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr *, int32_t, kg_csr_place) =
      KG_IMPLEMENTATIONS(kg_csr_transpose_host, kg_csr_transpose_cuda);
  kg_csr_place place;
  KG_TRY(kg_csr_alloc(ctx, n_columns, matrix->n_entries, out, &place));
  return impl[ctx->backend](ctx, matrix, n_columns, place);
}

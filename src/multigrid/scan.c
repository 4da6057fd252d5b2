#include "multigrid/scan.h"

#include "core/context.h"

kedge_status kg_scan(kedge_context *ctx, const int32_t *length, int32_t n, int64_t *begin,
                     int64_t *total)
{
  static kedge_status (*const impl[])(kedge_context *, const int32_t *, int32_t, int64_t *) =
      KG_IMPLEMENTATIONS(kg_scan_host, kg_scan_cuda);
  KG_TRY(impl[ctx->backend](ctx, length, n, begin));
  KG_TRY(kg_copy_out(ctx, total, begin + n, sizeof *total));
  return kg_sync(ctx);
}

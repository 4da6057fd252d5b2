#include "precondition/amg/scan.h"

#include "device/context.h"

kedge_status kg_scan_work_bytes(kedge_context *ctx, int32_t n, size_t *bytes)
{
  static kedge_status (*const impl[])(kedge_context *, int32_t, size_t *) =
      KG_IMPLEMENTATIONS(kg_scan_work_bytes_host, kg_scan_work_bytes_cuda);
  return impl[ctx->backend](ctx, n, bytes);
}

kedge_status kg_scan(kedge_context *ctx, const kg_scan_args *args, int64_t *total)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_scan_args *) =
      KG_IMPLEMENTATIONS(kg_scan_host, kg_scan_cuda);
  KG_TRY(impl[ctx->backend](ctx, args));
  return kg_copy_out(ctx, total, args->begin + args->n, sizeof *total);
}

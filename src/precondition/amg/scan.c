#include "precondition/amg/scan.h"

#include "device/context.h"

static kedge_status no_work(kedge_context *ctx, int32_t n, size_t *bytes)
{
  (void)ctx, (void)n;
  *bytes = 0;
  return KEDGE_OK;
}

kedge_status kg_scan_work_bytes(kedge_context *ctx, int32_t n, size_t *bytes)
{
  return KG_IMPLEMENTATION(ctx, no_work, kg_scan_work_bytes_cuda)(ctx, n, bytes);
}

static kedge_status scan(kedge_context *ctx, const kg_scan_args *a)
{
  (void)ctx;
  int64_t sum = 0;
  for (int32_t i = 0; i < a->n; ++i) {
    a->begin[i] = sum;
    sum += a->length[i];
  }
  a->begin[a->n] = sum;
  return KEDGE_OK;
}

kedge_status kg_scan(kedge_context *ctx, const kg_scan_args *args, int64_t *total)
{
  KG_TRY(KG_IMPLEMENTATION(ctx, scan, kg_scan_cuda)(ctx, args));
  return kg_copy_out(ctx, total, args->begin + args->n, sizeof *total);
}

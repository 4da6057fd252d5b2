#include "precondition/amg/scan.h"

#include "device/context.h"

static kedge_status no_scratch(kedge_context *ctx, int32_t n, size_t *bytes)
{
  (void)ctx, (void)n;
  *bytes = 0;
  return KEDGE_OK;
}

kedge_status kg_scan_take(kedge_context *ctx, kg_arena *arena, int32_t n, kg_scan_work *w)
{
  const size_t rows = (size_t)n;
  KG_TRY(KG_IMPLEMENTATION(ctx, no_scratch, kg_scan_bytes_cuda)(ctx, n, &w->scratch_bytes));
  KG_TRY(kg_arena_take(ctx, arena, rows, sizeof *w->length, &w->length));
  KG_TRY(kg_arena_take(ctx, arena, rows + 1, sizeof *w->begin, &w->begin));
  return kg_arena_take(ctx, arena, w->scratch_bytes, 1, &w->scratch);
}

static kedge_status scan(kedge_context *ctx, const kg_scan_work *w, int32_t n)
{
  (void)ctx;
  int64_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    w->begin[i] = sum;
    sum += w->length[i];
  }
  w->begin[n] = sum;
  return KEDGE_OK;
}

kedge_status kg_scan(kedge_context *ctx, const kg_scan_work *work, int32_t n, int64_t *total)
{
  KG_TRY(KG_IMPLEMENTATION(ctx, scan, kg_scan_cuda)(ctx, work, n));
  return kg_copy_out(ctx, total, work->begin + n, sizeof *total);
}

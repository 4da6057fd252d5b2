#include "precondition/amg/scan.h"

kedge_status kg_scan_work_bytes_host(kedge_context *ctx, int32_t n, size_t *bytes)
{
  (void)ctx, (void)n;
  *bytes = 0;
  return KEDGE_OK;
}

kedge_status kg_scan_host(kedge_context *ctx, const kg_scan_args *a)
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

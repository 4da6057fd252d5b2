#include "multigrid/scan.h"

kedge_status kg_scan_host(kedge_context *ctx, const int32_t *length, int32_t n, int64_t *begin)
{
  (void)ctx;
  int64_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    begin[i] = sum;
    sum += length[i];
  }
  begin[n] = sum;
  return KEDGE_OK;
}

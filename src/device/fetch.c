#include "device/fetch.h"

#include <string.h>

#include "device/context.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_staging.h"
#endif

kedge_status kg_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return kg_cuda_fetch(ctx, host, device, bytes);
#endif
  (void)ctx;
  memcpy(host, device, bytes);
  return KEDGE_OK;
}

int kg_visit(kedge_context *ctx)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return kg_cuda_visit(ctx);
#endif
  (void)ctx;
  return KG_NO_DEVICE;
}

void kg_leave(kedge_context *ctx, int before)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) kg_cuda_leave(before);
#endif
  (void)ctx, (void)before;
}

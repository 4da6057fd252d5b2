#include "device/fetch.h"

#include <string.h>

#include "device/context.h"

static kedge_status host_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  (void)ctx;
  memcpy(host, device, bytes);
  return KEDGE_OK;
}

static int host_visit(kedge_context *ctx)
{
  (void)ctx;
  return KG_NO_DEVICE;
}

static void host_leave(int before)
{
  (void)before;
}

static bool has_gpu(const kedge_context *ctx)
{
  return ctx->backend == KEDGE_BACKEND_CUDA;
}

kedge_status kg_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  return (has_gpu(ctx) ? KG_IF_CUDA(kg_cuda_fetch) : host_fetch)(ctx, host, device, bytes);
}

int kg_visit(kedge_context *ctx)
{
  return (has_gpu(ctx) ? KG_IF_CUDA(kg_cuda_visit) : host_visit)(ctx);
}

void kg_leave(kedge_context *ctx, int before)
{
  (has_gpu(ctx) ? KG_IF_CUDA(kg_cuda_leave) : host_leave)(before);
}

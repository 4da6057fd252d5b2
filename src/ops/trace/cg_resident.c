#include "ops/trace/cg_resident.h"

#include "device/context.h"

size_t kg_cg_resident_bytes(kedge_context *ctx, int m, const kg_trace_counts *count)
{
  static size_t (*const impl)(kedge_context *, int, const kg_trace_counts *) =
      KG_IF_CUDA(kg_cg_resident_bytes_cuda);
  return ctx->backend == KEDGE_BACKEND_CUDA ? impl(ctx, m, count) : 0;
}

kedge_status kg_cg_resident(kedge_context *ctx, const kg_cg_resident_args *args)
{
  static kedge_status (*const impl)(kedge_context *, const kg_cg_resident_args *) =
      KG_IF_CUDA(kg_cg_resident_cuda);
  return impl(ctx, args);
}

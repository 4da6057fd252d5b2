// cuda_launch.cuh: how kernels are launched.
#pragma once
#include "device/cuda_only.cuh"
#include "device/cuda_rt.h"

/// Launch a kernel on the context's stream.
/// @param shared  bytes of dynamic shared memory a block; beyond 48 KB: kg_launch_shared()
template <typename... Parameters, typename... Arguments>
kedge_status kg_launch(kedge_context *ctx, const char *name, dim3 blocks, dim3 threads,
                       size_t shared, void (*kernel)(Parameters...), const Arguments &...arguments)
{
  kg_start(name, blocks, threads, shared, kg_cuda_stream(ctx), kernel, arguments...);
  return kg_cuda_launched(ctx, name);
}

/// Launch blocks with `bytes` bytes of dynamic shared memory.
/// @retval KEDGE_ERR_UNSUPPORTED  the GPU has less
template <typename... Parameters, typename... Arguments>
kedge_status kg_launch_shared(kedge_context *ctx, const char *name, unsigned blocks,
                              unsigned threads, size_t bytes, void (*kernel)(Parameters...),
                              const Arguments &...arguments)
{
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)kernel, bytes, name));
  return kg_launch(ctx, name, blocks, threads, bytes, kernel, arguments...);
}

// cuda_chain.cuh: kernels that follow each other closely. One that is launched as chained starts
// while the kernel before it in the stream ends (programmatic dependent launch, compute capability
// 9 and later): its launch, and what it does before kg_chain_wait(), take no time of their own.
//
// Every block of such a kernel calls kg_chain_wait() before it ends and before it touches anything
// that an earlier kernel of the chain writes, or writes anything that one reads.
//
// A kernel that calls kg_chain_next() lets the next one start when all its own blocks have called
// it, and blocks of the next one take whatever place is free. So call it early where shared memory
// or registers spread those evenly over the multiprocessors, else where the work is done.
#pragma once
#include <type_traits>

#include "device/cuda_launch.cuh"
#include "device/cuda_only.cuh"

/// Launch on the context's stream.
/// @param chained  start before the kernel in front has ended, where the code for this GPU can
template <class... Parameters>
kedge_status kg_chain_launch(kedge_context *ctx, const char *name, void (*kernel)(Parameters...),
                             unsigned blocks, unsigned threads, size_t shared, bool chained,
                             std::decay_t<Parameters>... arguments)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.stream = kg_cuda_stream(ctx);
  config.attrs = &early;
  config.numAttrs = chained && kg_cuda(ctx)->code_major >= 9;
  KG_TRY(kg_cuda_check(ctx, cudaLaunchKernelEx(&config, kernel, arguments...), name));
  return kg_cuda_launched(ctx, name);
}

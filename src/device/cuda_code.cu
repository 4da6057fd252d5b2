// cuda_code.cu: for which GPUs the kernels of this build were compiled.
#include "device/cuda_rt.h"

namespace
{

/// Compiled like all others; never launched.
__global__ void any_kernel()
{
}

}  // namespace

extern "C" kedge_status kg_cuda_code_version(kedge_context *ctx, int *major)
{
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, any_kernel);
  cudaGetLastError();  // the next launch must not report this one
  KG_REQUIRE(ctx, error == cudaSuccess, KEDGE_ERR_UNSUPPORTED,
             "no code of this build runs on the GPU: %s; it is for CUDA architectures %s, which "
             "CMAKE_CUDA_ARCHITECTURES sets",
             cudaGetErrorString(error), KEDGE_CUDA_ARCHITECTURES);
  *major = attributes.ptxVersion / 10;
  KG_REQUIRE(ctx, *major >= 8, KEDGE_ERR_UNSUPPORTED,
             "this build has code for CUDA architectures %s, and kernels are for 80 and later; set "
             "CMAKE_CUDA_ARCHITECTURES",
             KEDGE_CUDA_ARCHITECTURES);
  return KEDGE_OK;
}

/// @file
/// Kernels compiled at run time. NVRTC is looked for when it is needed, and is no dependency: the
/// library named by KEDGE_NVRTC, or libnvrtc of the toolkit's version. Only in builds with CUDA.
#pragma once
#include "core/error.h"

/// A kernel in device memory; zero-initialise.
typedef struct kg_kernel {
  void *library, *function;
} kg_kernel;

/// Compile CUDA C++ without fused multiply-adds: `a * b + c` rounds twice, as on the host.
/// @param[in]  capability  10 major + minor of the GPU
/// @param[out] image       the machine code, freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  NVRTC was not found, or does not know this GPU
/// @retval KEDGE_ERR_INTERNAL     the source is wrong; the sentence has the compiler's first line
kedge_status kg_nvrtc_compile(kedge_context *ctx, const char *source, int capability, void **image);

/// Compile for the context's GPU and load.
/// @param[in] name  of an extern "C" kernel in the source
kedge_status kg_kernel_make(kedge_context *ctx, const char *source, const char *name,
                            kg_kernel *out);
void kg_kernel_free(kg_kernel *kernel);  ///< all zeros are allowed
/// The device address of a __device__ variable of the source.
kedge_status kg_kernel_variable(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                                void **device);
/// @param[in] arguments  addresses of the kernel's arguments
kedge_status kg_kernel_launch(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                              unsigned blocks, unsigned threads, void **arguments);

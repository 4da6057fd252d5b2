/// @file
/// Kernels compiled at run time. NVRTC is looked for when it is needed, and is no dependency: the
/// library named by KEDGE_NVRTC, or libnvrtc of the toolkit's version. Only in builds with CUDA.
#pragma once
#include "core/error.h"

/// A kernel in device memory; zero-initialise.
typedef struct kg_kernel {
  void *library, *function;
  size_t shared;  ///< bytes of dynamic shared memory of a block
} kg_kernel;

/// Compile CUDA C++ without fused multiply-adds: `a * b + c` rounds twice, as on the host; with
/// them where the source begins with KG_NVRTC_FUSED.
/// @param[in]  capability  10 major + minor of the GPU
/// @param[out] image       the machine code, freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  NVRTC was not found, or does not know this GPU
/// @retval KEDGE_ERR_INTERNAL     the source is wrong; the sentence has the compiler's first line
kedge_status kg_nvrtc_compile(kedge_context *ctx, const char *source, int capability, void **image);

#define KG_NVRTC_FUSED "// fused multiply-adds\n"

enum { KG_IMAGES_KEPT = 10 };  ///< a solve has five kernels at most, and two may take turns

typedef struct kg_image {
  char *source;
  int capability;
  void *code;
} kg_image;

/// The machine code of the sources that a context has compiled last.
typedef struct kg_images {
  int n;                          ///< kept
  int compiled;                   ///< so far
  kg_image kept[KG_IMAGES_KEPT];  ///< the one used last first
} kg_images;

/// Machine code as kg_nvrtc_compile() makes it, which the context keeps for the next call.
/// @param[out] image  of the context, until it has taken KG_IMAGES_KEPT others; NULL on failure
kedge_status kg_nvrtc_image(kedge_context *ctx, const char *source, int capability,
                            const void **image);
void kg_images_free(kg_images *images);

/// Compile for the context's GPU, or find what was compiled before, and load.
/// @param[in] name  of an extern "C" kernel in the source
kedge_status kg_kernel_make(kedge_context *ctx, const char *source, const char *name,
                            kg_kernel *out);
void kg_kernel_free(kg_kernel *kernel);  ///< all zeros are allowed
/// The device address of a __device__ variable of the source.
kedge_status kg_kernel_variable(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                                void **device);
/// Whether blocks of compiled kernels may have so many bytes of dynamic shared memory.
/// @retval KEDGE_ERR_UNSUPPORTED  the GPU has less
kedge_status kg_kernel_may_have(kedge_context *ctx, size_t bytes);
/// Allow them, with as many blocks side by side as the memory holds.
kedge_status kg_kernel_shared(kedge_context *ctx, kg_kernel *kernel, size_t bytes);
/// @param[in] arguments  addresses of the kernel's arguments
kedge_status kg_kernel_launch(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                              unsigned blocks, unsigned threads, void **arguments);

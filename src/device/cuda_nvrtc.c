#include "device/cuda_nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_rt.h"
#include "core/memory.h"

// The functions of NVRTC that kedge calls: a machine may lack the library and nvrtc.h. A result of
// 0 is success.
typedef struct compiler {
  void *library;
  const char *(*error_text)(int);
  int (*create)(void **program, const char *source, const char *name, int n_headers,
                const char *const *headers, const char *const *names);
  int (*destroy)(void **program);
  int (*compile)(void *program, int n_options, const char *const *options);
  int (*log_size)(void *program, size_t *bytes);
  int (*log)(void *program, char *text);
  int (*image_size)(void *program, size_t *bytes);
  int (*image)(void *program, char *image);
} compiler;

enum { INVALID_OPTION = 5 };  // NVRTC_ERROR_INVALID_OPTION, as for a GPU it does not know

/// The loader's own words about the first place are kept for the sentence.
static kedge_status open_library(kedge_context *ctx, void **library)
{
  const char *const chosen = getenv("KEDGE_NVRTC");
  const char *const places[] = {chosen ? chosen : KEDGE_NVRTC_NAME, "libnvrtc.so",
                                KEDGE_CUDA_LIBRARY_DIR "/" KEDGE_NVRTC_NAME};
  const size_t n_places = chosen ? 1 : sizeof places / sizeof *places;
  char why[256] = "";
  for (size_t i = 0; i < n_places; ++i) {
    *library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (*library) return KEDGE_OK;
    const char *error = dlerror();
    if (i == 0) snprintf(why, sizeof why, "%s", error ? error : places[i]);
  }
  return KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED, "NVRTC was not found (%s)", why);
}

static kedge_status open_compiler(kedge_context *ctx, compiler *c)
{
  *c = (compiler){0};
  KG_TRY(open_library(ctx, &c->library));
  const struct {
    const char *name;
    void *function;  // address of a pointer to a function
  } symbols[] = {
      {"nvrtcGetErrorString", &c->error_text},  {"nvrtcCreateProgram", &c->create},
      {"nvrtcDestroyProgram", &c->destroy},     {"nvrtcCompileProgram", &c->compile},
      {"nvrtcGetProgramLogSize", &c->log_size}, {"nvrtcGetProgramLog", &c->log},
      {"nvrtcGetCUBINSize", &c->image_size},    {"nvrtcGetCUBIN", &c->image},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    void *const symbol = dlsym(c->library, symbols[i].name);
    KG_REQUIRE(ctx, symbol, KEDGE_ERR_UNSUPPORTED, "the NVRTC library has no function %s",
               symbols[i].name);
    memcpy(symbols[i].function, &symbol, sizeof symbol);
  }
  return KEDGE_OK;
}

/// Fail with the first line of what the compiler says.
static kedge_status refuse(kedge_context *ctx, const compiler *c, void *program, int result)
{
  size_t bytes = 0;
  char *log = NULL;
  if (c->log_size(program, &bytes) == 0 && bytes > 1) KG_TRY(kg_host_calloc(ctx, bytes, 1, &log));
  if (log && c->log(program, log) == 0) log[strcspn(log, "\n")] = '\0';
  const kedge_status code = result == INVALID_OPTION ? KEDGE_ERR_UNSUPPORTED : KEDGE_ERR_INTERNAL;
  const kedge_status status = KG_FAIL(ctx, code, "NVRTC refused the kernel: %s",
                                      log && log[0] ? log : c->error_text(result));
  free(log);
  return status;
}

static kedge_status compile(kedge_context *ctx, const compiler *c, void *program, int capability,
                            bool fused, void **image)
{
  char architecture[40];
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", capability);
  const char *const options[] = {architecture, "--std=c++20", "-default-device",
                                 fused ? "--fmad=true" : "--fmad=false"};
  int result = c->compile(program, sizeof options / sizeof *options, options);
  if (result != 0) return refuse(ctx, c, program, result);
  size_t bytes = 0;
  result = c->image_size(program, &bytes);
  if (result == 0) KG_TRY(kg_host_alloc(ctx, bytes, 1, image));
  if (result == 0) result = c->image(program, *image);
  return result == 0 ? KEDGE_OK : refuse(ctx, c, program, result);
}

kedge_status kg_nvrtc_compile(kedge_context *ctx, const char *source, int capability, void **image)
{
  *image = NULL;
  compiler c;
  void *program = NULL;
  kedge_status status = open_compiler(ctx, &c);
  if (status != KEDGE_OK) goto done;
  const int result = c.create(&program, source, "kedge.cu", 0, NULL, NULL);
  if (result != 0) {
    status = KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED, "NVRTC cannot start: %s", c.error_text(result));
    goto done;
  }
  const bool fused = strncmp(source, KG_NVRTC_FUSED, strlen(KG_NVRTC_FUSED)) == 0;
  status = compile(ctx, &c, program, capability, fused, image);
done:
  if (program) c.destroy(&program);
  if (c.library) dlclose(c.library);
  if (status != KEDGE_OK) {
    free(*image);
    *image = NULL;
  }
  return status;
}

/// Put a new image before those that are kept. @param[in] code  taken over
static kedge_status keep(kedge_context *ctx, const char *source, int capability, void *code)
{
  kg_images *const all = ctx->images;
  const size_t bytes = strlen(source) + 1;
  char *copy;
  KG_TRY(kg_host_alloc(ctx, bytes, 1, &copy));
  memcpy(copy, source, bytes);
  if (all->n == KG_IMAGES_KEPT) {
    --all->n;
    free(all->kept[all->n].source);
    free(all->kept[all->n].code);
  }
  memmove(all->kept + 1, all->kept, (size_t)all->n * sizeof *all->kept);
  ++all->n;
  all->kept[0] = (kg_image){copy, capability, code};
  return KEDGE_OK;
}

/// Put a kept image first, if it is there.
static bool find_kept(kg_images *all, const char *source, int capability)
{
  for (int i = 0; i < all->n; ++i) {
    if (all->kept[i].capability != capability || strcmp(all->kept[i].source, source) != 0) continue;
    const kg_image found = all->kept[i];
    memmove(all->kept + 1, all->kept, (size_t)i * sizeof *all->kept);
    all->kept[0] = found;
    return true;
  }
  return false;
}

kedge_status kg_nvrtc_image(kedge_context *ctx, const char *source, int capability,
                            const void **image)
{
  *image = NULL;
  if (!ctx->images) KG_TRY(kg_host_calloc(ctx, 1, sizeof *ctx->images, &ctx->images));
  if (!find_kept(ctx->images, source, capability)) {
    void *made;
    KG_TRY(kg_nvrtc_compile(ctx, source, capability, &made));
    ++ctx->images->compiled;
    const kedge_status status = keep(ctx, source, capability, made);
    if (status != KEDGE_OK) free(made);
    KG_TRY(status);
  }
  *image = ctx->images->kept[0].code;
  return KEDGE_OK;
}

void kg_images_free(kg_images *images)
{
  for (int i = 0; i < images->n; ++i) {
    free(images->kept[i].source);
    free(images->kept[i].code);
  }
  free(images);
}

kedge_status kg_kernel_may_have(kedge_context *ctx, size_t bytes)
{
  const int limit = kg_cuda(ctx)->shared_limit;
  KG_REQUIRE(ctx, bytes <= (size_t)limit, KEDGE_ERR_UNSUPPORTED,
             "a compiled kernel needs %zu bytes of shared memory a block, and the GPU has %d",
             bytes, limit);
  return KEDGE_OK;
}

#if CUDART_VERSION >= 12080

static kedge_status capability_of(kedge_context *ctx, int *capability)
{
  const int device = kg_cuda(ctx)->device;
  int major = 0, minor = 0;
  KG_TRY(kg_cuda_check(ctx,
                       cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                       "asking for the compute capability"));
  KG_TRY(kg_cuda_check(ctx,
                       cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                       "asking for the compute capability"));
  *capability = 10 * major + minor;
  return KEDGE_OK;
}

static kedge_status load(kedge_context *ctx, const void *image, const char *name, kg_kernel *out)
{
  cudaLibrary_t library;
  cudaKernel_t function;
  KG_TRY(kg_cuda_check(ctx, cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0),
                       "loading a compiled kernel"));
  out->library = library;
  KG_TRY(kg_cuda_check(ctx, cudaLibraryGetKernel(&function, library, name),
                       "finding a compiled kernel"));
  out->function = function;
  return KEDGE_OK;
}

kedge_status kg_kernel_make(kedge_context *ctx, const char *source, const char *name,
                            kg_kernel *out)
{
  *out = (kg_kernel){0};
  int capability;
  const void *image;
  KG_TRY(capability_of(ctx, &capability));
  KG_TRY(kg_nvrtc_image(ctx, source, capability, &image));
  const kedge_status status = load(ctx, image, name, out);
  if (status != KEDGE_OK) {
    cudaGetLastError();  // the GPU stays usable
    kg_kernel_free(out);
  }
  return status;
}

void kg_kernel_free(kg_kernel *kernel)
{
  if (kernel->library) cudaLibraryUnload((cudaLibrary_t)kernel->library);
  *kernel = (kg_kernel){0};
}

kedge_status kg_kernel_variable(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                                void **device)
{
  return kg_cuda_check(ctx,
                       cudaLibraryGetGlobal(device, NULL, (cudaLibrary_t)kernel->library, name),
                       "finding a variable of a compiled kernel");
}

kedge_status kg_kernel_shared(kedge_context *ctx, kg_kernel *kernel, size_t bytes)
{
  KG_TRY(kg_kernel_may_have(ctx, bytes));
  kernel->shared = bytes;
  const int device = kg_cuda(ctx)->device;
  const cudaKernel_t function = (cudaKernel_t)kernel->function;
  KG_TRY(
      kg_cuda_check(ctx,
                    cudaKernelSetAttributeForDevice(
                        function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes, device),
                    "asking for shared memory"));
  return kg_cuda_check(
      ctx,
      cudaKernelSetAttributeForDevice(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      cudaSharedmemCarveoutMaxShared, device),
      "asking for shared memory");
}

kedge_status kg_kernel_launch(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                              unsigned blocks, unsigned threads, void **arguments)
{
  const dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
  KG_TRY(kg_cuda_check(ctx,
                       cudaLaunchKernel(kernel->function, grid, block, arguments, kernel->shared,
                                        kg_cuda_stream(ctx)),
                       name));
  return kg_cuda_launched(ctx, name);
}

#else  // the runtime cannot load kernels: the functions are there, and say so

kedge_status kg_kernel_make(kedge_context *ctx, const char *source, const char *name,
                            kg_kernel *out)
{
  (void)source, (void)name;
  *out = (kg_kernel){0};
  return KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED, "kedge was built with a CUDA toolkit older than 12.8");
}

void kg_kernel_free(kg_kernel *kernel)
{
  *kernel = (kg_kernel){0};
}

kedge_status kg_kernel_variable(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                                void **device)
{
  (void)kernel, (void)device;
  return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "%s: there is no compiled kernel", name);
}

kedge_status kg_kernel_shared(kedge_context *ctx, kg_kernel *kernel, size_t bytes)
{
  (void)kernel, (void)bytes;
  return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "there is no compiled kernel");
}

kedge_status kg_kernel_launch(kedge_context *ctx, const kg_kernel *kernel, const char *name,
                              unsigned blocks, unsigned threads, void **arguments)
{
  (void)kernel, (void)blocks, (void)threads, (void)arguments;
  return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "%s: there is no compiled kernel", name);
}

#endif

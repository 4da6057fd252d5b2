// compiled.cpp: kernels that were compiled at run time, by nvrtc.cpp. Machine code of CUDA's own
// compiler is refused.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <string>

#include <cuda_runtime_api.h>

#include "emulator.h"

namespace
{
/// A kernel by its name, and the function that takes addresses of its arguments.
struct kernel {
  std::string name;
  void (*call)(void **arguments);
};

struct library {
  void *code;
  int file;    ///< open, so that no other library has its name
  kernel one;  ///< the kernel that was asked for
};
}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, cudaJitOption *, void **,
                                unsigned, cudaLibraryOption *, void **, unsigned)
{
  const char *const image = (const char *)code;
  uint64_t size;
  if (memcmp(image, "emulated", 8) != 0) return cudaErrorNotSupported;
  memcpy(&size, image + 8, sizeof size);
  const int file = memfd_create("kernel", 0);
  if (file < 0 || write(file, image + 16, size) != (ssize_t)size)
    emulated::fail("a compiled kernel finds no memory");
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  void *const loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) emulated::fail("a compiled kernel cannot be loaded: %s", dlerror());
  *out = (cudaLibrary_t) new library{loaded, file, {}};
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t of)
{
  library *const l = (library *)of;
  dlclose(l->code);
  close(l->file);
  delete l;
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t of, const char *name)
{
  library *const l = (library *)of;
  void *const symbol = dlsym(l->code, (std::string("call_") + name).c_str());
  if (!symbol) return cudaErrorSymbolNotFound;
  l->one.name = name;
  memcpy(&l->one.call, &symbol, sizeof symbol);
  *out = (cudaKernel_t)&l->one;
  return cudaSuccess;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int)
{
  return cudaSuccess;
}

/// No recording has kernels like these.
cudaError_t cudaLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **arguments,
                             size_t shared, cudaStream_t)
{
  if (emulated::is_recording()) return cudaErrorStreamCaptureUnsupported;
  const kernel *const k = (const kernel *)function;
  emulated::launch(k->name.c_str(), blocks, threads, shared, [=] { k->call(arguments); });
  return cudaSuccess;
}

}  // extern "C"

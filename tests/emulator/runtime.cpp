// runtime.cpp: CUDA's runtime for a GPU that is the CPU: what is asked for is done at once.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <cuda_runtime_api.h>

#include "emulator.h"

namespace
{

enum { GUARD = 256, MULTIPROCESSORS = 4, SHARED = 227 << 10, THREADS = 2048 };
constexpr size_t MEMORY = (size_t)8 << 30;

thread_local cudaError_t last = cudaSuccess;
std::mutex of_memory;
std::map<char *, size_t> arrays;  ///< by their first byte
size_t used;

cudaError_t result(cudaError_t error)
{
  if (error != cudaSuccess) last = error;
  return error;
}

void check_guards(const char *data, size_t bytes)
{
  for (int i = 0; i < GUARD; ++i)
    if ((unsigned char)data[-1 - i] != 0xff || (unsigned char)data[bytes + i] != 0xff) {
      fprintf(stderr, "something wrote beside an array of %zu bytes of the emulated GPU\n", bytes);
      abort();
    }
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError()
{
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
  return error == cudaErrorMemoryAllocation ? "out of memory" : "the emulated GPU cannot do that";
}

// ---- the device ----

cudaError_t cudaDriverGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
  *n = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "emulated GPU");
  properties->totalGlobalMem = MEMORY;
  properties->major = 9;
  properties->multiProcessorCount = MULTIPROCESSORS;
  properties->sharedMemPerBlockOptin = SHARED;
  properties->sharedMemPerMultiprocessor = SHARED + 1024;
  properties->maxThreadsPerMultiProcessor = THREADS;
  properties->l2CacheSize = 50 << 20;
  properties->warpSize = 32;
  return cudaSuccess;
}

/// Memory is not of pools, and blocks do not run beside each other.
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
  *value = attribute == cudaDevAttrMultiProcessorCount      ? MULTIPROCESSORS
           : attribute == cudaDevAttrComputeCapabilityMajor ? 9
                                                            : 0;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
  memset(attributes, 0, sizeof *attributes);
  attributes->maxDynamicSharedSizeBytes = SHARED;
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 128;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads,
                                                          size_t shared)
{
  const int by_memory = (int)((SHARED + 1024) / (shared + 1024)), by_threads = THREADS / threads;
  *blocks = by_memory < by_threads ? by_memory : by_threads;
  return cudaSuccess;
}

// ---- memory ----

cudaError_t cudaMalloc(void **out, size_t bytes)
{
  if (emulated::is_recording()) return result(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard<std::mutex> lock(of_memory);
  char *all = nullptr;
  if (bytes > MEMORY - used ||
      posix_memalign((void **)&all, GUARD, (bytes + 3 * GUARD - 1) / GUARD * GUARD) != 0)
    return result(cudaErrorMemoryAllocation);
  memset(all, 0xff, bytes + 2 * GUARD);
  arrays[all + GUARD] = bytes;
  used += bytes;
  *out = all + GUARD;
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
  if (memory == nullptr) return cudaSuccess;
  const std::lock_guard<std::mutex> lock(of_memory);
  const auto found = arrays.find((char *)memory);
  if (found == arrays.end()) return result(cudaErrorInvalidValue);
  check_guards(found->first, found->second);
  used -= found->second;
  free(found->first - GUARD);
  arrays.erase(found);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *at)
{
  const std::lock_guard<std::mutex> lock(of_memory);
  const auto after = arrays.upper_bound((char *)at);
  const bool found = after != arrays.begin() &&
                     (const char *)at < std::prev(after)->first + std::prev(after)->second;
  memset(attributes, 0, sizeof *attributes);
  attributes->type = found ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
  const std::lock_guard<std::mutex> lock(of_memory);
  *total = MEMORY;
  *free_bytes = MEMORY - used;
  return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
  memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
  emulated::enqueue([=] { memset(to, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
  emulated::enqueue([=] { memmove(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void *, size_t, unsigned)
{
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *)
{
  return cudaSuccess;
}

// ---- streams and events: nothing is ever on its way ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  static char one;
  *stream = (cudaStream_t)&one;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t)
{
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
  return result(emulated::is_recording() ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  static char one;
  *event = (cudaEvent_t)&one;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t)
{
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
  return cudaSuccess;
}

}  // extern "C"

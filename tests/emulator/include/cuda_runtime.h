/// @file
/// In place of CUDA's header where kernels are compiled as C++ for the CPU (emulator.h): its types
/// and the runtime's functions are CUDA's, what belongs to a kernel stands here.
#pragma once
#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "../emulator.h"

#undef __device__
#undef __host__
#undef __global__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __align__
#define __device__
#define __host__
#define __global__
#define __shared__      static
#define __constant__    static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDACC__
#define __CUDA_ARCH__ 900

// ---- meetings of a warp ----

namespace emulated
{

inline int lane()
{
  return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

inline void pass(exchange *const *lane, unsigned mask)
{
  uint64_t sent[32];
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1u) sent[l] = lane[l]->in[0];
  for (int l = 0; l < 32; ++l) {
    if (!(mask >> l & 1u)) continue;
    const int from = lane[l]->source;
    if (!(mask >> from & 1u))
      fail("lane %d takes from lane %d, which is not in mask %08x", l, from, mask);
    lane[l]->in[0] = sent[from];
  }
}

inline void count(exchange *const *lane, unsigned mask)
{
  uint64_t set = 0;
  for (int l = 0; l < 32; ++l)
    if ((mask >> l & 1u) && lane[l]->in[0] != 0) set |= 1u << l;
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1u) lane[l]->in[1] = set;
}

inline void nothing(exchange *const *, unsigned)
{
}

/// Bits of NaN where the caller of a shuffle has not set them.
template <class T>
T shuffle(unsigned mask, T value, int source)
{
  static_assert(sizeof(T) <= 8);
  exchange mine = {};
  memcpy(&mine.in[0], &value, sizeof value);
  mine.source = source;
  meet(mask, pass, &mine);
  memcpy(&value, &mine.in[0], sizeof value);
  return value;
}

}  // namespace emulated

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
  return emulated::shuffle(mask, value, emulated::lane() / width * width + (source & (width - 1)));
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
  const int mine = emulated::lane(), other = mine ^ bits;
  return emulated::shuffle(mask, value, other / width > mine / width ? mine : other);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned offset, int width = 32)
{
  const int mine = emulated::lane();
  return emulated::shuffle(mask, value,
                           mine % width + (int)offset < width ? mine + (int)offset : mine);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned offset, int width = 32)
{
  const int mine = emulated::lane();
  return emulated::shuffle(mask, value, mine % width >= (int)offset ? mine - (int)offset : mine);
}

inline unsigned __ballot_sync(unsigned mask, bool value)
{
  emulated::exchange mine = {};
  mine.in[0] = value;
  emulated::meet(mask, emulated::count, &mine);
  return (unsigned)mine.in[1];
}

inline bool __any_sync(unsigned mask, bool value)
{
  return __ballot_sync(mask, value) != 0;
}

inline bool __all_sync(unsigned mask, bool value)
{
  return __ballot_sync(mask, value) == mask;
}

inline void __syncwarp(unsigned mask = 0xffffffffu)
{
  emulated::exchange mine = {};
  emulated::meet(mask, emulated::nothing, &mine);
}

// ---- meetings of a block ----

inline void __syncthreads()
{
  emulated::barrier(0, 0);
}

inline int __syncthreads_or(int value)
{
  return emulated::barrier_any(value != 0);
}

inline void __threadfence()
{
}
inline void __threadfence_block()
{
}

// ---- memory: blocks run one after another, threads until they give way ----

template <class T>
T __ldg(const T *from)
{
  return *from;
}
template <class T>
T __ldcs(const T *from)
{
  return *from;
}
template <class T>
T __ldcg(const T *from)
{
  return *from;
}
template <class T>
void __stcg(T *to, T value)
{
  *to = value;
}
template <class T>
void __stcs(T *to, T value)
{
  *to = value;
}

template <class T>
T atomicAdd(T *at, std::type_identity_t<T> value)
{
  const T before = *at;
  *at += value;
  return before;
}
template <class T>
T atomicMin(T *at, std::type_identity_t<T> value)
{
  const T before = *at;
  if (value < before) *at = value;
  return before;
}
template <class T>
T atomicMax(T *at, std::type_identity_t<T> value)
{
  const T before = *at;
  if (value > before) *at = value;
  return before;
}
template <class T>
T atomicExch(T *at, std::type_identity_t<T> value)
{
  const T before = *at;
  *at = value;
  return before;
}
template <class T>
T atomicCAS(T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value)
{
  const T before = *at;
  if (before == expected) *at = value;
  return before;
}

// ---- arithmetic ----

template <class A, class B>
std::common_type_t<A, B> max(A a, B b)
{
  using both = std::common_type_t<A, B>;
  return std::is_floating_point_v<both> ? (both)fmax((double)a, (double)b)
                                        : ((both)a < (both)b ? (both)b : (both)a);
}
template <class A, class B>
std::common_type_t<A, B> min(A a, B b)
{
  using both = std::common_type_t<A, B>;
  return std::is_floating_point_v<both> ? (both)fmin((double)a, (double)b)
                                        : ((both)b < (both)a ? (both)b : (both)a);
}

using std::isfinite;
using std::isnan;

inline double __drcp_rn(double x)
{
  return 1.0 / x;
}
inline double rsqrt(double x)
{
  return 1.0 / sqrt(x);
}
inline long long __double_as_longlong(double x)
{
  long long bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double __longlong_as_double(long long bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
inline int __double2hiint(double x)
{
  return (int)(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x)
{
  return (int)__double_as_longlong(x);
}
inline double __hiloint2double(int high, int low)
{
  return __longlong_as_double((long long)((uint64_t)(uint32_t)high << 32 | (uint32_t)low));
}
inline int __popc(unsigned x)
{
  return __builtin_popcount(x);
}
inline int __ffs(int x)
{
  return __builtin_ffs(x);
}
inline int __clz(int x)
{
  return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

// ---- the runtime's templates, as far as they are used ----

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments)
{
  emulated::enqueue([=, blocks = config->gridDim, threads = config->blockDim,
                     shared = config->dynamicSmemBytes] {
    emulated::launch(__PRETTY_FUNCTION__, blocks, threads, shared, [&] { kernel(arguments...); });
  });
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel kernel, int threads,
                                                          size_t shared)
{
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads,
                                                       shared);
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *kernel)
{
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

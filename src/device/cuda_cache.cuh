// cuda_cache.cuh: what stays in the L2 cache. A policy goes with an access (compute capability 9
// and later; older GPUs get plain stores).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

/// The policy of the L2 cache for data that streams through once: it leaves before anything else.
__device__ __forceinline__ uint64_t kg_leave_first()
{
  uint64_t policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/// The policy of the L2 cache for a little data that is soon read again: it leaves last.
__device__ __forceinline__ uint64_t kg_leave_last()
{
  uint64_t policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

__device__ __forceinline__ void kg_store(double *to, double value, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy)
               : "memory");
#else
  (void)policy;
  *to = value;
#endif
}

__device__ __forceinline__ void kg_store(float *to, float value, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(policy)
               : "memory");
#else
  (void)policy;
  *to = value;
#endif
}

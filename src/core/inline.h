/// @file
/// Functions that host code and kernels share, in one source.
#pragma once

#ifdef __CUDACC__
#define KG_INLINE static __host__ __device__ __forceinline__
#else
#define KG_INLINE static inline
#endif

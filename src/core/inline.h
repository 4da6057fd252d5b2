/// @file
/// Functions that host code and kernels share, in one source.
#pragma once

#ifdef __CUDACC__
#define KG_INLINE static __host__ __device__ __forceinline__
#else
#define KG_INLINE static inline
#endif

/// A function of host code whose value C++ may want while it compiles.
#ifdef __cplusplus
#define KG_CONSTEXPR static constexpr
#else
#define KG_CONSTEXPR static inline
#endif

/// @file
/// Kernels of which a thread is one of n things: an element, an edge, a vertex, an entry.
#pragma once
#include "device/cuda_launch.cuh"

/// The number of the thread.
__device__ __forceinline__ int64_t kg_thread_number()
{
  return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/// A thread for each of n things, in blocks of BLOCK, and some beyond; none where n is 0, since an
/// empty grid is a launch error.
template <int BLOCK, typename... Parameters, typename... Arguments>
kedge_status kg_launch_each(kedge_context *ctx, const char *name, int64_t n,
                            void (*kernel)(Parameters...), const Arguments &...arguments)
{
  if (n == 0) return KEDGE_OK;
  return kg_launch(ctx, name, (unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, kernel, arguments...);
}

template <int BLOCK, auto DO, typename Arguments>
__global__ void __launch_bounds__(BLOCK) kg_each_kernel(const Arguments a, int64_t n)
{
  const int64_t i = kg_thread_number();
  if (i < n) DO(&a, i);
}

/// DO(&arguments, i) of each of n things, which host code calls in a loop.
template <int BLOCK, auto DO, typename Arguments>
kedge_status kg_do_each(kedge_context *ctx, const char *name, int64_t n, const Arguments &arguments)
{
  return kg_launch_each<BLOCK>(ctx, name, n, kg_each_kernel<BLOCK, DO, Arguments>, arguments, n);
}

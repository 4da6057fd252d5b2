/// @file
/// A trace vector's values on one edge.
#pragma once

/// The m modes of an edge, read through the cache; two a load where alignment allows it.
template <int M>
__device__ __forceinline__ void kg_load_edge(const double *__restrict__ x, double *out)
{
  if (M % 2 == 0) {
#pragma unroll
    for (int j = 0; j < M / 2; ++j) {
      const double2 v = __ldg((const double2 *)x + j);
      out[2 * j] = v.x;
      out[2 * j + 1] = v.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < M; ++j) out[j] = __ldg(x + j);
  }
}

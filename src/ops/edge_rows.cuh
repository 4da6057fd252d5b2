// edge_rows.cuh: the M numbers of an edge between registers and memory, in 16-byte words where rows
// begin with one.
#pragma once

namespace kg
{

template <int M>
__device__ __forceinline__ void load_edge(double *to, const double *row)
{
  if constexpr (M % 2 == 0) {
#pragma unroll
    for (int k = 0; k < M; k += 2) {
      const double2 pair = *(const double2 *)(row + k);
      to[k] = pair.x, to[k + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int k = 0; k < M; ++k) to[k] = row[k];
  }
}

template <int M>
__device__ __forceinline__ void store_edge(double *row, const double *from)
{
  if constexpr (M % 2 == 0) {
#pragma unroll
    for (int k = 0; k < M; k += 2) *(double2 *)(row + k) = make_double2(from[k], from[k + 1]);
  } else {
#pragma unroll
    for (int k = 0; k < M; ++k) row[k] = from[k];
  }
}

}  // namespace kg

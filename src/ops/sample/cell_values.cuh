// cell_values.cuh: points of the elements of a group, and values of functions there. For the
// interpreter the CUDA compiler takes this file (evaluate_cuda.cu), for formulas NVRTC
// (cell_kernel.h), without any header and without fused multiply-adds.
//
// Layout  as ops/local/quadrature/elements.h; values [group][function][point][lane]
// Points  sums over the nodes, in the order and with the roundings of the host
//         (equation/sampling.c)
#pragma once

namespace kg
{

/// The coordinates of a lane's element, as [node][lane]. Those of straight elements are held.
/// @tparam D  the dimension; in space elements are straight
template <int D>
struct cell_nodes {
  static constexpr int CORNERS = 4;
  const double *curved;  ///< of the lane, x of the nodes, then y; or null
  int n;
  double corner[D][CORNERS];

  __device__ __forceinline__ cell_nodes(const double *vertices, const int *vertex,
                                        const double *nodes, int n_nodes, long long group, int lane)
      : curved(nodes ? nodes + group * D * n_nodes * 32 + lane : nullptr), n(n_nodes), corner()
  {
#pragma unroll
    for (int l = 0; l < CORNERS; ++l)
      if (!curved && l < n) {
        const long long v = vertex[(group * n + l) * 32 + lane];
#pragma unroll
        for (int k = 0; k < D; ++k) corner[k][l] = vertices[D * v + k];
      }
  }
  /// @param[in]  map  [node] of the point
  /// @param[out] at   coordinates, `stride` apart
  __device__ __forceinline__ void place(const double *map, double *at, int stride = 1) const
  {
    double sum[D] = {};
    if (curved)
      for (int l = 0; l < n; ++l)
#pragma unroll
        for (int k = 0; k < D; ++k) sum[k] += map[l] * curved[(k * n + l) * 32];
    else
#pragma unroll
      for (int l = 0; l < CORNERS; ++l)
        if (l < n)
#pragma unroll
          for (int k = 0; k < D; ++k) sum[k] += map[l] * corner[k][l];
#pragma unroll
    for (int k = 0; k < D; ++k) at[k * stride] = sum[k];
  }
};

/// As kg_is_elliptic() of the host (problem/problem.h), for values that are finite.
__device__ __forceinline__ bool is_elliptic(double xx, double xy, double yy, double reaction)
{
  const double mean = 0.5 * (xx + yy), half = 0.5 * (xx - yy);
  return mean - hypot(half, xy) >= 2.2250738585072014e-308 && reaction >= 0.0;
}

/// Where the values of a lane in a group go.
struct cell_output {
  double *values;                 ///< [group][function][point][lane]
  unsigned long long *first_bad;  ///< smallest index: an order of arrival does not matter
  double scale;
  long long group;
  int lane, n_functions, n_points, n_used;
  bool elliptic;

  /// @param[in] value  [function], `stride` apart
  __device__ __forceinline__ void put(int point, const double *value, int stride) const
  {
    const long long first = (group * n_functions * n_points + point) * 32 + lane;
    const bool used = point < n_used;
    for (int f = 0; f < n_functions; ++f) {
      const long long at = first + (long long)f * n_points * 32;
      values[at] = scale * value[f * stride];
      if ((f == 0 || used) && !isfinite(value[f * stride])) report(at);
    }
    if (elliptic && used &&
        !is_elliptic(value[0], value[stride], value[2 * stride],
                     n_functions > 3 ? value[3 * stride] : 0.0))
      report(first);
  }
  __device__ __forceinline__ void report(long long at) const
  {
    atomicMin(first_bad, (unsigned long long)at);
  }
};

}  // namespace kg

// point_values.cuh: rules in memory, for point_sums.cuh.
#pragma once
#include "device/cuda_rt.h"
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
#include "basis/roughness.h"
#include "ops/sample/point_sums.cuh"

namespace kg
{
/// The tables of the rule of load vectors as a parameter of a kernel: where loops are unrolled,
/// their numbers are operands of the arithmetic, which no load has to bring.
template <int P>
struct rule_table {
  static constexpr int R = point_shape<P>::R;
  double along[R][P + 2], weight[R * R], top[R];

  explicit rule_table(const kg_points &host_points)
  {
    for (int a = 0; a < R; ++a)
      for (int i = 0; i < P + 2; ++i) along[a][i] = host_points.along[a * (P + 2) + i];
    for (int q = 0; q < R * R; ++q) weight[q] = host_points.weight[q];
    for (int a = 0; a < R; ++a) top[a] = host_points.top[a];
  }
};

/// The rule of load vectors.
template <int P>
struct load_rule {
  const kg_points &points;
  const rule_table<P> &table;

  __device__ __forceinline__ double along(int a, int i) const
  {
    return table.along[a][i];
  }
  __device__ __forceinline__ double across(int row, int mode) const
  {
    return __ldg(points.across + row * point_shape<P>::S + mode);
  }
  __device__ __forceinline__ double weight(int point) const
  {
    return table.weight[point];
  }
  __device__ __forceinline__ double top(int a) const
  {
    return table.top[a];
  }
  __device__ __forceinline__ double top_of_row(int row) const
  {
    return __ldg(points.top_of_row + row);
  }
};

/// A rule of errors, of any number of rows.
template <int P>
struct error_rule {
  const kg_points &points;

  __device__ __forceinline__ int rows() const
  {
    return points.rows;
  }
  __device__ __forceinline__ double along(int a, int i) const
  {
    return __ldg(points.along + a * (P + 2) + i);
  }
  __device__ __forceinline__ double across(int row, int mode) const
  {
    return __ldg(points.across + row * point_shape<P>::S + mode);
  }
  __device__ __forceinline__ double weight(int point) const
  {
    return __ldg(points.weight + point);
  }
  __device__ __forceinline__ double corner(int k, int mode) const
  {
    return __ldg(points.basis + (points.rows * points.rows + k) * point_shape<P>::S + mode);
  }
};

/// J of a lane's element, by the formula of sample_kernels.cuh.
__device__ __forceinline__ double jacobian_of(const kg_batch &batch, int64_t group, int lane)
{
  double x[3], y[3];
  kg_element_corners(batch.arrays.vertices, batch.arrays.vertex, group, lane, x, y);
  return 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
}

}  // namespace kg

// errors_cuda.cu: squared L2 errors of a group and the maximum of |u - exact| over its points, from
// exact values in memory.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     lane = element; up to order 2 a warp does a group, else the warps of a block share its
//         rows of points (point_sums.cuh). Sums in a fixed order.
// Memory  a block that has one group copies the modes, which every row of points needs, to shared
//         memory: all of them are on their way at once, and registers are left to the arithmetic.
// Cost    kg_errors_cost()
#include <cuda_pipeline.h>

#include "device/cuda_launch.cuh"
#include "ops/by_order.cuh"
#include "ops/sample/errors.h"
#include "ops/sample/point_values.cuh"

namespace
{

struct block_shape {
  int share;   ///< warps that share a group
  int blocks;  ///< blocks for which a multiprocessor is to have registers
};

/// The shape of a block for each order from 1 on.
constexpr block_shape shapes[] = {{1, 4}, {1, 4}, {3, 5}, {4, 4}, {4, 3}, {9, 2},
                                  {4, 3}, {4, 3}, {4, 3}, {5, 2}, {5, 2}, {5, 2}};
static_assert(sizeof shapes / sizeof *shapes == KEDGE_ORDER_MAX, "one entry per order");

template <int P>
struct group_shape : kg::error_shape<shapes[P - 1].share> {
  using modes = kg::point_shape<P>;
  static constexpr int MODES = 3 * modes::N + modes::S;  ///< rows of lanes
  static constexpr bool COPIES = shapes[P - 1].share > 1;
  static constexpr size_t SHARED_BYTES = COPIES ? MODES * KG_LANES * sizeof(double) : 0;
};

template <int P>
struct memory_exact {
  static constexpr int UNROLL = P <= 6 ? 4 : 1;
  const double *exact;
  int rows;

  struct points {
    const double *first;
    int n;  ///< points of an element
    __device__ __forceinline__ void values(int a, double *value) const
    {
#pragma unroll
      for (int f = 0; f < 3; ++f) value[f] = first[(f * n + a) * KG_LANES];
    }
  };
  __device__ __forceinline__ points row(int number) const
  {
    return {exact + number * rows * KG_LANES, rows * rows + KG_POINT_CORNERS};
  }
  __device__ __forceinline__ double corner(int k) const
  {
    return exact[(rows * rows + k) * KG_LANES];
  }
  __device__ __forceinline__ void check(double) const
  {
  }
};

/// Ask for rows of lanes in shared memory, and lead to them there. @return where the next ones go
template <int ROWS, int THREADS>
__device__ __forceinline__ double *fetch(double *to, const double *&rows)
{
#pragma unroll 4
  for (int i = threadIdx.x; i < ROWS * KG_LANES / 2; i += THREADS)
    __pipeline_memcpy_async((double2 *)to + i, (const double2 *)rows + i, sizeof(double2));
  rows = to;
  return to + ROWS * KG_LANES;
}

template <int P>
__global__ void __launch_bounds__(group_shape<P>::WARPS *KG_LANES, shapes[P - 1].blocks)
    errors_kernel(const __grid_constant__ kg_errors_args a)
{
  using shape = group_shape<P>;
  constexpr int N = shape::modes::N, S = shape::modes::S, THREADS = shape::WARPS * KG_LANES;
  KG_SHARED(double2, s_memory);
  const int lane = threadIdx.x % 32;
  const int64_t g = ((int64_t)blockIdx.x * shape::WARPS + threadIdx.x / 32) / shape::SHARE;
  const int64_t group = a.first_group + g;
  if (g >= a.n_groups) return;
  const double *u = a.u + g * N * KG_LANES, *q = a.q + g * 2 * N * KG_LANES;
  const double *star = a.u_star + g * S * KG_LANES;
  const double *exact = a.exact + g * 3 * a.points.n * KG_LANES;
  if constexpr (shape::COPIES) {
    double *next = fetch<N, THREADS>((double *)s_memory, u);
    next = fetch<2 * N, THREADS>(next, q);
    fetch<S, THREADS>(next, star);
    __pipeline_commit();
  }
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  const double jacobian = exists ? kg::jacobian_of(a.batch, group, lane) : 0.0;
  if constexpr (shape::COPIES) {
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  kg::errors_of_group<P, shape>(
      kg::error_rule<P>{a.points}, memory_exact<P>{exact + lane, a.points.rows},
      kg::point_fields{u + lane, q + lane, q + N * KG_LANES + lane, star + lane},
      kg::point_flux(a.diffusion, a.material, group * KG_LANES + lane,
                     a.flux_by_group ? a.flux_by_group + group : nullptr),
      jacobian, (double *)(a.by_group + group));
}

template <int P>
kedge_status launch(kedge_context *ctx, const kg_errors_args &a)
{
  using shape = group_shape<P>;
  const unsigned blocks = ((unsigned)a.n_groups + shape::GROUPS - 1) / shape::GROUPS;
  return kg_launch_shared(ctx, "errors", blocks, shape::WARPS * KG_LANES, shape::SHARED_BYTES,
                          errors_kernel<P>, a);
}

}  // namespace

extern "C" kedge_status kg_errors_cuda(kedge_context *ctx, const kg_errors_args *a)
{
  static_assert(sizeof(kg_error_sums) == 4 * sizeof(double), "written as an array");
  if (a->n_groups == 0) return KEDGE_OK;
  return kg_with_order(a->batch.reference.size.order, [&](auto p) { return launch<p()>(ctx, *a); });
}

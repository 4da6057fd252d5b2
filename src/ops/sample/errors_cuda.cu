// errors_cuda.cu: squared L2 errors of a group and the maximum of |u - exact| over its points, from
// exact values in memory.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     lane = element; up to order 2 a warp does a group, else the warps of a block share its
//         rows of points (point_sums.cuh). Sums in a fixed order.
// Memory  a block that has one group copies the modes, which every row of points needs, to shared
//         memory, and the exact values too while two blocks of a multiprocessor have room for them:
//         all of it is on its way at once, and registers are left to the arithmetic.
// Cost    kg_errors_cost()
#include <cuda_pipeline.h>

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
  static constexpr int R = modes::R, POINTS = R * R + KG_POINT_CORNERS;
  static constexpr int MODES = 3 * modes::N + modes::S, EXACT = 3 * POINTS;  ///< rows of lanes
  static constexpr bool COPIES = shapes[P - 1].share > 1, COPIES_EXACT = COPIES && P <= 6;
  static constexpr size_t SHARED_BYTES =
      COPIES ? (MODES + (COPIES_EXACT ? EXACT : 0)) * KG_LANES * sizeof(double) : 0;
};

template <int P>
struct memory_exact {
  using shape = group_shape<P>;
  static constexpr int UNROLL = P <= 6 ? shape::R : 1;
  const double *exact;

  struct points {
    const double *first;
    __device__ __forceinline__ void values(int a, double *value) const
    {
#pragma unroll
      for (int f = 0; f < 3; ++f) value[f] = first[(f * shape::POINTS + a) * KG_LANES];
    }
  };
  __device__ __forceinline__ points row(int number) const
  {
    return {exact + number * shape::R * KG_LANES};
  }
  __device__ __forceinline__ double corner(int k) const
  {
    return exact[(shape::R * shape::R + k) * KG_LANES];
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
    errors_kernel(const __grid_constant__ kg_errors_args a,
                  const __grid_constant__ kg::rule_table<P> table)
{
  using shape = group_shape<P>;
  constexpr int N = shape::modes::N, S = shape::modes::S, THREADS = shape::WARPS * KG_LANES;
  extern __shared__ double2 s_memory[];
  const int lane = threadIdx.x % 32;
  const int64_t g = ((int64_t)blockIdx.x * shape::WARPS + threadIdx.x / 32) / shape::SHARE;
  const int64_t group = a.first_group + g;
  if (g >= a.n_groups) return;
  const double *u = a.u + g * N * KG_LANES, *q = a.q + g * 2 * N * KG_LANES;
  const double *star = a.u_star + g * S * KG_LANES, *exact = a.exact + g * shape::EXACT * KG_LANES;
  if constexpr (shape::COPIES) {
    double *next = fetch<N, THREADS>((double *)s_memory, u);
    next = fetch<2 * N, THREADS>(next, q);
    next = fetch<S, THREADS>(next, star);
    if constexpr (shape::COPIES_EXACT) fetch<shape::EXACT, THREADS>(next, exact);
    __pipeline_commit();
  }
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  const double jacobian = exists ? kg::jacobian_of(a.batch, group, lane) : 0.0;
  if constexpr (shape::COPIES) {
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  kg::errors_of_group<P, shape>(
      kg::memory_rule<P>{a.points, table}, memory_exact<P>{exact + lane},
      kg::point_fields{u + lane, q + lane, q + N * KG_LANES + lane, star + lane}, jacobian,
      (double *)(a.by_group + group));
}

template <int P>
kedge_status launch(kedge_context *ctx, const kg_errors_args &a)
{
  using shape = group_shape<P>;
  const unsigned blocks = ((unsigned)a.n_groups + shape::GROUPS - 1) / shape::GROUPS;
  return kg_launch_shared(ctx, "errors", blocks, shape::WARPS * KG_LANES, shape::SHARED_BYTES,
                          errors_kernel<P>, a, kg::rule_table<P>(a.host_points));
}

}  // namespace

extern "C" kedge_status kg_errors_cuda(kedge_context *ctx, const kg_errors_args *a)
{
  static_assert(sizeof(kg_error_sums) == 4 * sizeof(double), "written as an array");
  if (a->n_groups == 0) return KEDGE_OK;
  return kg_with_order(a->batch.reference.size.order, [&](auto p) { return launch<p()>(ctx, *a); });
}

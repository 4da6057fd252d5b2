// errors_cuda.cu: squared L2 errors of a group and the maximum of |u - exact| over its points, from
// exact values in memory.
// Layout  all arrays [group][row][lane]: lanes are neighbouring words.
// Map     lane = element; a warp does a group at low orders, else the warps of a block share its
//         rows of points (point_sums.cuh). Sums in a fixed order.
// Cost    kg_errors_cost()
#include "ops/errors.h"
#include "ops/point_values.cuh"

namespace
{

/// By order from 1 on. Two rows at once share the loads of modes, as far as registers go.
constexpr kg_error_shape shapes[] = {{1, 2, 4}, {1, 1, 4}, {1, 1, 4}, {4, 2, 3},
                                     {4, 2, 3}, {5, 1, 3}, {5, 1, 3}, {4, 1, 3},
                                     {4, 1, 3}, {5, 1, 2}, {5, 1, 2}, {5, 1, 2}};
static_assert(sizeof shapes / sizeof *shapes == KEDGE_ORDER_MAX, "one entry per order");
template <int P>
using error_shape = kg::error_shape<shapes[P - 1].share, shapes[P - 1].rows>;

template <int P>
struct memory_exact {
  static constexpr int R = kg::point_shape<P>::R, POINTS = R * R + KG_POINT_CORNERS;
  const double *exact;

  struct points {
    const double *first;
    __device__ __forceinline__ void values(int a, double *value) const
    {
#pragma unroll
      for (int f = 0; f < 3; ++f) value[f] = first[(f * POINTS + a) * KG_LANES];
    }
  };
  __device__ __forceinline__ points row(int number) const
  {
    return {exact + number * R * KG_LANES};
  }
  __device__ __forceinline__ double corner(int k) const
  {
    return exact[(R * R + k) * KG_LANES];
  }
  __device__ __forceinline__ void check(double) const
  {
  }
};

template <int P>
__global__ void __launch_bounds__(32 * error_shape<P>::WARPS, shapes[P - 1].blocks)
    errors_kernel(const kg_errors_args a)
{
  using shape = error_shape<P>;
  using modes = kg::point_shape<P>;
  const int lane = threadIdx.x % 32;
  const int64_t at = ((int64_t)blockIdx.x * shape::WARPS + threadIdx.x / 32) / shape::SHARE;
  const int64_t g = at < a.n_groups ? at : a.n_groups - 1;  // whole blocks meet at a barrier
  const int64_t group = a.first_group + g;
  const double *q = a.q + g * 2 * modes::N * KG_LANES + lane;
  const kg::point_fields field = {a.u + g * modes::N * KG_LANES + lane, q, q + modes::N * KG_LANES,
                                  a.u_star + g * modes::S * KG_LANES + lane};
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  kg::errors_of_group<P, shape>(
      kg::memory_rule<P>{a.points},
      memory_exact<P>{a.exact + g * 3 * memory_exact<P>::POINTS * KG_LANES + lane}, field,
      exists ? kg::jacobian_of(a.batch, group, lane) : 0.0, at < a.n_groups,
      (double *)(a.by_group + group));
}

template <int P>
void launch(kedge_context *ctx, const kg_errors_args &a)
{
  using shape = error_shape<P>;
  const unsigned blocks = ((unsigned)a.n_groups + shape::GROUPS - 1) / shape::GROUPS;
  errors_kernel<P><<<blocks, 32 * shape::WARPS, 0, kg_cuda_stream(ctx)>>>(a);
}

constexpr void (*by_order[])(kedge_context *, const kg_errors_args &) = {
    launch<1>, launch<2>, launch<3>, launch<4>,  launch<5>,  launch<6>,
    launch<7>, launch<8>, launch<9>, launch<10>, launch<11>, launch<12>};
static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX, "one entry per order");

}  // namespace

extern "C" kedge_status kg_errors_cuda(kedge_context *ctx, const kg_errors_args *a)
{
  static_assert(sizeof(kg_error_sums) == 4 * sizeof(double), "written as an array");
  if (a->n_groups == 0) return KEDGE_OK;
  by_order[a->batch.reference.size.order - 1](ctx, *a);
  return kg_cuda_launched(ctx, "errors");
}

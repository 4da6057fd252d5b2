// load_vectors_cuda.cu: f^e_i = scale J sum_q w_q f(x_q) phi_i(q), from values in memory.
// Layout  values [group][point][lane], load [group][N][lane]: lanes are neighbouring words.
// Map     warp = group, lane = element, its N sums in registers; row after row of the rule
//         (point_sums.cuh). What the rule has is the same for all lanes; of that, what a point
//         needs is an operand of the arithmetic (rule_table).
// Cost    kg_load_vectors_cost()
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/sample/load_vectors.h"
#include "ops/sample/point_values.cuh"

namespace
{

enum { WARPS = 4 };  ///< of a block

template <int P>
struct memory_source {
  static constexpr int UNROLL = 8;
  const double *values;

  struct points {
    const double *first;
    __device__ __forceinline__ double value(int a) const
    {
      return first[a * KG_LANES];
    }
  };
  __device__ __forceinline__ points row(int number) const
  {
    return {values + number * kg::point_shape<P>::R * KG_LANES};
  }
  __device__ __forceinline__ void check(double) const
  {
  }
};

template <int P>
__global__ void __launch_bounds__(32 * WARPS)
    load_vectors_kernel(const __grid_constant__ kg_load_vectors_args a,
                        const __grid_constant__ kg::rule_table<P> table)
{
  const int lane = threadIdx.x % 32;
  const int64_t g = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32, group = a.first_group + g;
  if (g >= a.n_groups) return;
  kg::load_of_points<P>(kg::load_rule<P>{a.points, table},
                        memory_source<P>{a.values + g * a.points.n * KG_LANES + lane},
                        a.scale * kg::jacobian_of(a.batch, group, lane),
                        a.load + g * kg::point_shape<P>::N * KG_LANES + lane,
                        {a.rough ? a.rough + g * KG_LANES + lane : nullptr, a.least});
}

template <int P>
kedge_status launch(kedge_context *ctx, const kg_load_vectors_args &a)
{
  return kg_launch_each<32 * WARPS>(ctx, "load_vectors", (int64_t)KG_LANES * a.n_groups,
                                    load_vectors_kernel<P>, a, kg::rule_table<P>(a.host_points));
}

}  // namespace

extern "C" kedge_status kg_load_vectors_cuda(kedge_context *ctx, const kg_load_vectors_args *a)
{
  return kg_with_order(a->batch.reference.size.order, [&](auto p) { return launch<p()>(ctx, *a); });
}

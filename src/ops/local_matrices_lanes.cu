// local_matrices_lanes.cu: K^e and F^e of every element at orders 3 to 5, by ordinary FP64 instructions.
// Layout  local [group][n (n+1) / 2][lane], condensed [group][n][lane].
// Map     A warp takes a group, 32 / LANES elements at a time, LANES lanes an element. The lanes factor
//         Z^-1 = L L^T, its rows in their registers, columns of L going to shared memory as they are
//         found; then solve for the columns of W = L^-1 [R, f], a few each; then multiply columns and
//         write K^e and F^e. At order 5 the warps of a block go through this code together: it is some
//         hundred kilobytes, which they would fetch each for itself.
// Cost    kg_local_matrices_cost()
#include <cuda_pipeline.h>

#include "ops/local_matrices_lanes.h"
#include "ops/local_matrices_lanes_products.cuh"

namespace
{

using namespace kg;

/// What the matrices of a group's elements depend on, one element a lane.
template <class shape>
__device__ __forceinline__ void set_factors(lanes_memory<shape> &s, const kg_local_matrices_args &a,
                                            int64_t group)
{
  const int lane = threadIdx.x % KG_LANES;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
  const kg_element g = kg_element_of(x, y, a.material);
  const auto set = [&](int which, double value) { s.factor[which][lane] = value; };
  set(SAME_R, g.stiffness[0] + g.stiffness[1]);
  set(SAME_S, g.stiffness[2]);
  set(SAME_EDGE, g.tau[1] + g.tau[2]);
  set(DIFFERENT_S, g.stiffness[2] + 2.0 * g.stiffness[1]);
  set(DIFFERENT_EDGE, g.tau[1] - g.tau[2]);
  set(MASS, g.mass);
  unsigned reversed = 0;
  for (int l = 0; l < 3; ++l) {
    set(TAU + l, g.tau[l]);
    set(LIFT_R + l, g.lift_r[l]);
    set(LIFT_S + l, g.lift_s[l]);
    reversed |= (a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane] & 1u) << l;
  }
  for (int k = 0; k < 6; ++k) set(S_ZERO + k, g.trace[k]);
  unsigned even = 0;
  for (unsigned x = 0; x < 8; ++x) even |= (~__popc(x & reversed) & 1u) << x;
  s.even[lane] = even;
}

/// Load vectors of lanes first.. of a group to shared memory, sooner or later.
template <class shape>
__device__ __forceinline__ void fetch_loads(const lanes_warp<shape> &w,
                                            const kg_local_matrices_args &a, int64_t group,
                                            int first)
{
  const int lane = threadIdx.x % 32, e = lane % shape::E;
  const double *load = a.load + group * shape::N * KG_LANES + first + e;
#pragma unroll 1
  for (int r = 0; r < shape::ROWS; ++r) {
    const int k = shape::LANES * r + lane / shape::E;
    if (k < shape::N)
      __pipeline_memcpy_async(&w.memory->load[k][e], load + w.tables->mode[k] * KG_LANES,
                              sizeof(double));
  }
  __pipeline_commit();
}

/// What set_factors() reads of a group, and its load vectors, to the L2 cache, a line a lane.
template <class shape>
__device__ __forceinline__ void ask_for(const kg_local_matrices_args &a, int64_t group)
{
  constexpr int LINE = 128 / sizeof(double);  // of loads
  const int lane = threadIdx.x % 32;
  if (group >= a.batch.count.n_groups) return;
  const void *line = lane < 3
                         ? (const void *)(a.batch.arrays.vertex + (group * 3 + lane) * KG_LANES)
                         : a.batch.arrays.side_edge + (group * 3 + lane - 3) * KG_LANES;
  if (lane < 6) asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
  for (int k = lane; k < shape::N * KG_LANES / LINE; k += 32)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(a.load + group * shape::N * KG_LANES + k * LINE));
}

/// @param[in] at_once  times 32 / LANES elements are what a warp takes: LANES, a group, or 1
template <class shape>
__global__ void __launch_bounds__(32 * shape::WARPS, 1)
    local_matrices_lanes(const kg_local_matrices_args a, int at_once)
{
  extern __shared__ double2 s_memory[];
  auto &tables = *(lanes_tables<shape> *)s_memory;
  fill_tables<shape>(tables, a.batch.reference);
  lanes_warp<shape> w;
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);  // the same, as the compiler sees
  w.tables = &tables;
  w.memory = (lanes_memory<shape> *)(&tables + 1) + warp;
  w.zero = a.batch.count.n_groups >> 31;
  const int in_group = shape::LANES / at_once, step = gridDim.x * (blockDim.x / 32);
  const int end = a.batch.count.n_groups * in_group;
  for (int of_block = blockIdx.x; of_block < end; of_block += step) {
    const int at = of_block + gridDim.x * warp, from = at % in_group * at_once * shape::E;
    const int64_t group = at / in_group;
    if (at < end) {
      set_factors<shape>(*w.memory, a, group);
      ask_for<shape>(a, (at + step) / in_group);
    }
#pragma unroll 1
    for (int first = from; first < from + at_once * shape::E; first += shape::E) {
      if (shape::ALIGNED) __syncthreads();  // instructions that one warp fetches serve the others
      if (at >= end) continue;
      fetch_loads<shape>(w, a, group, first);
      w.lane = first + w.place.e;
      const bool exists = group * KG_LANES + w.lane < a.batch.count.n_elements;
      __syncwarp();
      factor<shape>(w);
      __pipeline_wait_prior(0);
      __syncwarp();
      double x[shape::N][shape::COLUMNS];
      build_columns<shape>(w, x);
      solve<shape>(w, x);
      multiply<shape>(
          w,
          {(char *)(a.local + group * shape::packed * KG_LANES),
           (char *)(a.condensed + group * shape::n * KG_LANES), w.memory->even[w.lane], exists},
          x);
      if (!exists)
        for (int k = w.place.q; k < shape::packed; k += shape::LANES)
          a.local[(group * shape::packed + k) * KG_LANES + w.lane] = 0.0;
      __syncwarp();
    }
  }
}

template <class shape>
kedge_status launch(kedge_context *ctx, const kg_local_matrices_args &a)
{
  const auto kernel = local_matrices_lanes<shape>;
  const size_t tables = sizeof(lanes_tables<shape>), memory = sizeof(lanes_memory<shape>);
  const int fit = (kg_cuda(ctx)->shared_limit - (int)tables) / (int)memory;
  const int warps = fit < shape::WARPS ? fit : shape::WARPS;
  const size_t shared = tables + warps * memory;
  KG_TRY(kg_cuda_check(
      ctx, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
      "local_matrices: asking for shared memory"));
  const int processors = kg_cuda(ctx)->multiprocessors, groups = a.batch.count.n_groups;
  const int at_once = groups < 2 * warps * processors ? 1 : shape::LANES;  // few: all warps to work
  const int pieces = groups * (shape::LANES / at_once);
  kernel<<<(unsigned)(pieces < processors ? pieces : processors), 32 * warps, shared,
           kg_cuda_stream(ctx)>>>(a, at_once);
  return kg_cuda_launched(ctx, "local_matrices");
}

// Shapes: the fastest of those measured on an H200 (profiling/operators --only local_matrices): order,
// lanes an element, warps a block, whether they wait for each other.
constexpr kedge_status (*by_order[])(kedge_context *, const kg_local_matrices_args &) = {
    launch<lanes_shape<3, 2, 8, false>>, launch<lanes_shape<4, 4, 12, false>>,
    launch<lanes_shape<5, 4, 8, true>>};
static_assert(sizeof by_order / sizeof *by_order == KG_LANES_MAX - KG_LANES_MIN + 1,
              "one entry per order");

}  // namespace

kedge_status kg_local_matrices_lanes(kedge_context *ctx, const kg_local_matrices_args *a)
{
  return by_order[a->batch.reference.size.order - KG_LANES_MIN](ctx, *a);
}

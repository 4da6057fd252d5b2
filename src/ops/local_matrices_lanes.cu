// local_matrices_lanes.cu: K^e and F^e of every element at orders 3 to 5, by ordinary FP64 instructions.
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane].
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
#pragma unroll
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

/// Pieces of AT_ONCE times 32 / LANES elements: groups, or, where there are few, parts of groups.
template <class shape>
struct lanes_pieces {
  bool whole;  ///< groups
  int count, step;

  __device__ __forceinline__ lanes_pieces(const kg_local_matrices_args &a, bool whole_groups)
      : whole(whole_groups),
        count(a.batch.count.n_groups * (whole ? 1 : shape::LANES)),
        step(gridDim.x * (blockDim.x / 32))
  {
  }
  __device__ __forceinline__ int64_t group(int piece) const
  {
    return whole ? piece : piece / shape::LANES;
  }
  __device__ __forceinline__ int first(int piece, int pass) const
  {
    return (whole ? pass : piece % shape::LANES) * shape::E;
  }
};

/// Local matrices of 32 / LANES elements of a group whose factors are there.
template <class shape>
__device__ __forceinline__ void make(lanes_block<shape> &block, const kg_local_matrices_args &a,
                                     const lanes_pieces<shape> &pieces, lanes_turn turn)
{
  factor<shape>(lanes_warp<shape>(block, turn));
  __pipeline_wait_prior(0);
  __syncwarp();
  double x[shape::N][shape::COLUMNS];
  build_columns<shape>(lanes_warp<shape>(block, turn), x);
  solve<shape>(lanes_warp<shape>(block, turn), x);
  const auto group_of = [&](const lanes_warp<shape> &w) {
    return pieces.group(w.turn.of_block + gridDim.x * (this_thread<shape>() / 32));
  };
  const lanes_warp<shape> w(block, turn);
  multiply<shape>(w, a, group_of(w), x);
  const lanes_warp<shape> after(block, turn);
  finish<shape>(after, a, group_of(after));
}

/// @param[in] whole  a warp takes groups, else parts of them
template <class shape>
__global__ void __launch_bounds__(32 * shape::WARPS, 1)
    local_matrices_lanes(const kg_local_matrices_args a, bool whole)
{
  extern __shared__ double2 s_memory[];
  auto &block = *(lanes_block<shape> *)s_memory;
  fill_tables<shape>(block.tables, a.batch.reference);
  const lanes_pieces<shape> pieces(a, whole);
  lanes_turn turn = {(int)blockIdx.x, 0, 0};
#pragma unroll 1
  while (turn.of_block < pieces.count) {
    if (shape::LONG) __syncthreads();
    // The same for all lanes, as the compiler sees.
    const int warp = __shfl_sync(0xffffffffu, this_thread<shape>() / 32, 0);
    const int piece = turn.of_block + gridDim.x * warp;
    if (piece < pieces.count) {
      auto &memory = block.memory[warp];
      const int64_t group = pieces.group(piece);
      if (turn.pass == 0) {
        set_factors<shape>(memory, a, group);
        ask_for<shape>(a, pieces.group(piece + pieces.step));
      }
      turn.first = pieces.first(piece, turn.pass);
      if (shape::LONG && this_thread<shape>() % 32 == 0) memory.turn = turn;
      __syncwarp();
      fetch_loads<shape>(lanes_warp<shape>(block, turn), a, group, turn.first);
      make<shape>(block, a, pieces, turn);
      if (shape::LONG) {
        const lanes_turn kept = lanes_warp<shape>(block, turn).turn;
        turn.of_block = __shfl_sync(0xffffffffu, kept.of_block, 0);
        turn.pass = __shfl_sync(0xffffffffu, kept.pass, 0);
      }
      __syncwarp();
    }
    if (++turn.pass == (whole ? shape::LANES : 1)) turn = {turn.of_block + pieces.step, 0, 0};
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
  const int groups = a.batch.count.n_groups, most = (int)kg_cuda_blocks(ctx, INT_MAX, 1);
  const bool whole = groups >= 2 * warps * most;  // few: all warps to work
  const int pieces = groups * (whole ? 1 : shape::LANES);
  kernel<<<kg_cuda_blocks(ctx, pieces, 1), 32 * warps, shared, kg_cuda_stream(ctx)>>>(a, whole);
  return kg_cuda_launched(ctx, "local_matrices");
}

// Shapes: the fastest of those measured on an H200 (profiling/operators --only local_matrices): order,
// reduced, lanes an element, warps a block, whether they wait for each other and save registers.
constexpr kedge_status (*by_order[][2])(kedge_context *, const kg_local_matrices_args &) = {
    {launch<lanes_shape<3, false, 2, 8, false>>, launch<lanes_shape<3, true, 2, 12, false>>},
    {launch<lanes_shape<4, false, 4, 12, false>>, launch<lanes_shape<4, true, 4, 8, false>>},
    {launch<lanes_shape<5, false, 4, 8, true>>, launch<lanes_shape<5, true, 4, 8, true>>}};
static_assert(sizeof by_order / sizeof *by_order == KG_LANES_MAX - KG_LANES_MIN + 1,
              "one entry per order");

}  // namespace

kedge_status kg_local_matrices_lanes(kedge_context *ctx, const kg_local_matrices_args *a)
{
  return by_order[a->batch.reference.size.order - KG_LANES_MIN][a->reduced](ctx, *a);
}

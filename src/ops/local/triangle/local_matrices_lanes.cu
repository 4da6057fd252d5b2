// local_matrices_lanes.cu: K^e and F^e of every element at orders 3 to 6, by ordinary FP64
// instructions.
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane].
// Map     A warp takes ten elements at a time, three lanes an element, one a side; at order 6 five
//         elements, two lanes a side. Modes of degree P are eliminated by hand. The lanes factor
//         what is left of Z^-1, A = L L^T, its rows in their registers, columns of L going to
//         shared memory as they are found; then solve for the columns of W = L^-1 R, each for those
//         of its side or half of them; then multiply columns and write K^e and F^e.
// Cost    kg_local_matrices_cost()
#include <cuda_pipeline.h>

#include "device/cuda_launch.cuh"
#include "ops/local/triangle/local_matrices_lanes.h"
#include "ops/local/triangle/local_matrices_lanes_products.cuh"

namespace
{

using namespace kg;

/// Pieces of E elements.
template <class shape>
__host__ __device__ int pieces_of(const kg_local_matrices_args &a)
{
  return (int)(((int64_t)a.batch.count.n_groups * KG_LANES + shape::E - 1) / shape::E);
}

/// The value, known from here on alone: what is computed of it is not kept in registers until then.
__device__ __forceinline__ int afresh(int value)
{
  asm volatile("" : "+r"(value));
  return value;
}

/// The element of the lane, of those of a piece; beyond the last group, its last lane.
template <class shape>
__device__ __forceinline__ int64_t element_at(const lanes_warp<shape> &w,
                                              const kg_local_matrices_args &a, int piece)
{
  const int64_t element = (int64_t)piece * shape::E + w.e;
  const int64_t last = (int64_t)a.batch.count.n_groups * KG_LANES - 1;
  return element < last ? element : last;
}

/// The entry of `array`, [group][3][lane], that belongs to side q of the element.
template <class T>
__device__ __forceinline__ T of_side(const T *array, int64_t element, int q)
{
  return __ldg(array + (element / KG_LANES * 3 + q) * KG_LANES + element % KG_LANES);
}

/// Corners and load vectors to shared memory, sooner or later.
template <class shape>
__device__ __forceinline__ void fetch(const lanes_warp<shape> &w, const kg_local_matrices_args &a,
                                      int64_t element, int vertex)
{
  if (w.half == 0)
    __pipeline_memcpy_async(&w.memory->corner[w.side][w.e],
                            a.batch.arrays.vertices + 2 * (int64_t)vertex, sizeof(double2));
  const double *load = a.load + element / KG_LANES * shape::N * KG_LANES + element % KG_LANES;
#pragma unroll
  for (int r = 0; shape::LANES * r < shape::N; ++r) {
    const int k = shape::LANES * r + w.q;
    if (k < shape::N)
      __pipeline_memcpy_async(&w.memory->load[k][w.e], load + w.tables->mode[k] * KG_LANES,
                              sizeof(double));
  }
  __pipeline_commit();
}

/// Local matrices of a piece, whose corners and load vectors are on their way to shared memory;
/// then those of the next one are.
template <class shape, bool ONE_NUMBER>
__device__ __forceinline__ void make(const lanes_warp<shape> &w, const kg_local_matrices_args &a,
                                     const lanes_side_table<shape> &table, int piece,
                                     int next_piece)
{
  const int64_t read = element_at(w, a, piece);
  const uint32_t side_edge = of_side(a.batch.arrays.side_edge, read, w.side);
  const int next_vertex = of_side(a.batch.arrays.vertex, element_at(w, a, next_piece), w.side);
  __pipeline_wait_prior(0);
  __syncwarp();
  const lanes_element<shape> e = element_of<shape, ONE_NUMBER>(w, a.materials, read);
  __syncwarp();  // f has been read as it was
  eliminate_load<shape>(w, e.top);
  __syncwarp();
  factor<shape>(w, e.rows);
  __syncwarp();
  double x[shape::K + 1][shape::MINE];
  build_columns<shape>(w, e.side, table, x);
  __syncwarp();  // f has been used
  next_piece = afresh(next_piece);
  if (next_piece < pieces_of<shape>(a))
    fetch<shape>(w, a, element_at(w, a, next_piece), next_vertex);
  solve<shape>(w, x);
  const lanes_results<shape> to(w, a, (int64_t)afresh(piece) * shape::E + w.e, side_edge);
  put_load<shape>(w, e.side, to, x[shape::K]);
  const int zero = a.batch.count.n_groups >> 31;
  if constexpr (shape::PER_SIDE == 1) {
    multiply<shape>(w, e.side, table, to, zero, x);
  } else {
    double y[shape::DEPTH][shape::COLUMNS];
    trade<shape>(w, x, y);
    multiply<shape>(w, e.side, table, to, zero, y);
  }
  if (to.has_load && !to.exists)
    for (int k = w.q; k < shape::RESULTS; k += shape::LANES) to.local[k * KG_LANES] = 0.0;
  __syncwarp();  // L has been used
}

/// Warps of a block take pieces that follow each other, at about the same time: two write to one
/// sector of memory. Where there are few pieces, as many warps work as all blocks have use for.
template <class shape, bool ONE_NUMBER>
__global__ void __launch_bounds__(32 * shape::WARPS, 1)
    local_matrices_lanes(const kg_local_matrices_args a,
                         const __grid_constant__ lanes_side_table<shape> table)
{
  KG_SHARED(double2, s_memory);
  auto &block = *(lanes_block<shape> *)s_memory;
  fill_tables<shape>(block.tables, a.batch.reference, table);
  // The number of the warp, which the compiler sees to be the same for all lanes.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  const int blocks = gridDim.x, warps = blockDim.x / 32, pieces = pieces_of<shape>(a);
  const int each = (pieces + blocks - 1) / blocks, at_work = each < warps ? each : warps;
  const lanes_warp<shape> w(block, warp);
  int first = blockIdx.x * at_work, piece = warp < at_work ? first + warp : pieces;
  if (piece < pieces) {
    const int64_t element = element_at(w, a, piece);
    fetch<shape>(w, a, element, of_side(a.batch.arrays.vertex, element, w.side));
  }
#pragma unroll 1
  for (; first < pieces; first += blocks * at_work, piece += blocks * at_work) {
    if (shape::TOGETHER) __syncthreads();
    if (piece < pieces) make<shape, ONE_NUMBER>(w, a, table, piece, piece + blocks * at_work);
  }
}

template <class shape, bool ONE_NUMBER = false>
kedge_status launch(kedge_context *ctx, const kg_local_matrices_args &a)
{
  const double *values;
  KG_TRY(kg_reference_of(ctx, shape::P, &values));
  const lanes_side_table<shape> table(kg_reference_at(shape::P, values));
  const size_t tables = sizeof(lanes_tables<shape>), memory = sizeof(lanes_memory<shape>);
  const int fit = (kg_cuda(ctx)->shared_limit - (int)tables) / (int)memory;
  const int warps = fit < shape::WARPS ? fit : shape::WARPS;
  return kg_launch_shared(ctx, "local_matrices", kg_cuda_blocks(ctx, pieces_of<shape>(a), 1),
                          32 * warps, tables + warps * memory,
                          local_matrices_lanes<shape, ONE_NUMBER>, a, table);
}

/// At orders 3 and 4 a kernel that knows one number is faster than that for any material
/// (profiling/operators --only local_matrices).
template <class shape>
kedge_status launch_by_material(kedge_context *ctx, const kg_local_matrices_args &a)
{
  return kg_are_one_number(&a.materials) ? launch<shape, true>(ctx, a) : launch<shape>(ctx, a);
}

// Shapes: the fastest of those measured on an H200 (profiling/operators --only local_matrices):
// order, lanes a side, reduced, warps a block, whether they wait for each other.
constexpr kedge_status (*by_order[][2])(kedge_context *, const kg_local_matrices_args &) = {
    {launch_by_material<lanes_shape<3, 1, false, 16, true>>,
     launch<lanes_shape<3, 1, true, 12, true>>},
    {launch_by_material<lanes_shape<4, 1, false, 12, true>>,
     launch<lanes_shape<4, 1, true, 8, false>>},
    {launch<lanes_shape<5, 1, false, 8, false>>, launch<lanes_shape<5, 1, true, 8, false>>},
    {launch<lanes_shape<6, 2, false, 8, true>>, launch<lanes_shape<6, 2, true, 8, false>>}};
static_assert(sizeof by_order / sizeof *by_order == KG_DEALT_ORDER_MAX - KG_DEALT_ORDER_MIN + 1,
              "one entry per order");

}  // namespace

kedge_status kg_local_matrices_lanes(kedge_context *ctx, const kg_local_matrices_args *a)
{
  return by_order[a->batch.reference.size.order - KG_DEALT_ORDER_MIN]
                 [a->local.layout == KG_LAYOUT_REDUCED](ctx, *a);
}

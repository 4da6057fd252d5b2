// trace_apply_stream.cuh: the patch kernel for GPUs with a copy engine (compute capability 9 and
// later).
//
// Persistent blocks walk over the patches. K^e streams through one ring a warp (bulk_ring.cuh) and
// never waits for anything else: while a patch is computed, x and the side codes of the next one
// are on their way (cp.async), and the halo list of the one after it.
// Measured against the plain kernel of trace_apply_cuda.cu by profiling/operators.
#pragma once
#include <cuda_pipeline.h>

#include "device/cuda_only.cuh"
#include "device/cuda_chain.cuh"
#include "ops/trace/bulk_ring.cuh"
#include "ops/by_order.cuh"
#include "ops/trace/edge_rows.cuh"
#include "ops/trace/element_codes.cuh"
#include "ops/trace/element_product.cuh"
#include "ops/trace/patch_place.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/trace/trace_apply.h"

namespace
{

/// Rings by modes of a facet: the rows of K^e in a slot, and the slots, decide how far loads run
/// ahead; and the blocks of a multiprocessor for which registers are chosen. Two blocks are best
/// where a patch brings enough of K^e, so that one streams while the other gathers, three or four
/// where it does not; shared memory has room for patches of meshes that are less regular than a
/// square. Slots divide the rows of K^e, or nearly. Those of triangles were chosen on an H200; what
/// they reach is in profiling/results (operators.json). Those of four facets
/// (FOUR) follow them in bytes; the last of them, of tetrahedra of order 3, leaves room for their
/// larger halos.
struct ring_shape {
  int entries, slots, blocks;
};
#ifdef KG_COMPILE_SINGLE
constexpr ring_shape PACKED_RINGS[] = {{7, 3, 2},  {15, 3, 2}, {26, 2, 2}, {20, 2, 2},
                                       {57, 2, 2}, {33, 4, 2}, {50, 2, 2}, {42, 2, 2},
                                       {31, 3, 2}, {51, 2, 2}, {37, 2, 2}, {30, 2, 2}};
constexpr ring_shape REDUCED_RINGS[] = {{9, 4, 4},  {12, 3, 4}, {12, 3, 3}, {27, 2, 2},
                                        {41, 3, 2}, {29, 4, 2}, {39, 3, 2}, {34, 3, 2},
                                        {32, 3, 2}, {36, 2, 2}, {36, 2, 2}, {30, 2, 2}};
constexpr ring_shape FOUR_RINGS[] = {{12, 3, 2}, {13, 3, 2}, {17, 3, 2}, {21, 2, 2}, {50, 2, 2},
                                     {58, 2, 2}, {44, 2, 2}, {37, 2, 2}, {41, 2, 2}};
#else
constexpr ring_shape PACKED_RINGS[] = {{7, 2, 2},  {15, 2, 2}, {13, 2, 2}, {10, 2, 2},
                                       {19, 3, 2}, {21, 3, 2}, {25, 2, 2}, {21, 2, 2},
                                       {15, 3, 2}, {17, 2, 2}, {18, 2, 2}, {15, 2, 2}};
constexpr ring_shape REDUCED_RINGS[] = {{9, 2, 3},  {12, 2, 2}, {12, 2, 2}, {9, 2, 2},
                                        {21, 3, 2}, {29, 2, 2}, {26, 2, 2}, {22, 2, 2},
                                        {16, 3, 2}, {18, 2, 2}, {18, 2, 2}, {15, 2, 2}};
constexpr ring_shape FOUR_RINGS[] = {{9, 2, 2},  {13, 2, 2}, {8, 2, 2},  {7, 2, 2}, {25, 2, 2},
                                     {14, 3, 2}, {22, 2, 2}, {18, 2, 2}, {10, 3, 2}};
#endif
static_assert(sizeof PACKED_RINGS / sizeof *PACKED_RINGS == KEDGE_ORDER_MAX &&
                  sizeof REDUCED_RINGS / sizeof *REDUCED_RINGS == KEDGE_ORDER_MAX &&
                  sizeof FOUR_RINGS / sizeof *FOUR_RINGS == kg_modes_max(4) - 1,
              "one entry per number of modes");
constexpr ring_shape ring_of(int facets, int m, bool reduced)
{
  return (facets == 4 ? FOUR_RINGS : reduced ? REDUCED_RINGS : PACKED_RINGS)[m - KG_MODES_MIN];
}

/// Bytes of shared memory of a block: barriers, rings, products and x of a patch, and the halo
/// lists of three.
size_t stream_bytes(int facets, int m, bool reduced, const kg_trace_counts &count)
{
  const ring_shape ring = ring_of(facets, m, reduced);
  const size_t rows = (size_t)kg_patch_groups(m) * ring.slots * ring.entries;
  return 1024 + sizeof(kg_real) * (rows * 32 + 3 * (size_t)count.max_local * m) +
         3 * sizeof(uint32_t) * (size_t)count.max_halo;
}

template <int FACETS, int M, bool REDUCED>
struct stream_shape {
  static constexpr int facets = FACETS, n = FACETS * M;
  static constexpr bool reduced = REDUCED;
  static constexpr int total = ELEMENT_ENTRIES<FACETS, M, REDUCED>;
  static constexpr int warps = kg_patch_groups(M);
  static constexpr int threads = 32 * warps;
  static constexpr int entries = ring_of(FACETS, M, REDUCED).entries;
  static constexpr int slots = ring_of(FACETS, M, REDUCED).slots;
  static constexpr int blocks = ring_of(FACETS, M, REDUCED).blocks;
  using ring = kg::bulk_ring<kg_real, entries, slots, total>;
};

/// The shared memory of a block. x is that of one patch; halo lists are held for the patch being
/// computed, the next and the one after it (`turn` 0 to 2).
template <class shape, int M>
struct patch_memory {
  static constexpr int T = shape::threads;
  const kg_trace_apply_args &a;
  kg_real *s_y;      ///< [2][edge of the patch][M]: products
  kg_real *s_x;      ///< [edge of the patch][M]
  uint32_t *s_halo;  ///< [turn][halo entry of the patch]

  __device__ patch_memory(const kg_trace_apply_args &args, kg_real *memory) : a(args)
  {
    s_y = memory;
    s_x = s_y + 2 * a.batch.count.max_local * M;
    s_halo = (uint32_t *)(s_x + a.batch.count.max_local * M);
  }
  __device__ uint32_t *halo(int turn) const
  {
    return s_halo + turn * a.batch.count.max_halo;
  }

  /// Send for x of a patch whose halo list is here.
  __device__ __forceinline__ void fetch_patch(const patch_place &p, int turn) const
  {
    const uint32_t *entries = halo(turn);
    const kg_real *const x = (const kg_real *)a.x;
    for (int i = threadIdx.x; i < p.n_inside * M; i += T)
      __pipeline_memcpy_async(s_x + i, x + (int64_t)p.edge0 * M + i, sizeof *x);
    for (int i = threadIdx.x; i < p.n_halo * M; i += T)
      __pipeline_memcpy_async(s_x + p.n_inside * M + i,
                              x + (int64_t)(entries[i / M] >> 1) * M + i % M, sizeof *x);
  }

  __device__ __forceinline__ kg_real *product(int code) const
  {
    return s_y + ((code & 1) * a.batch.count.max_local + (code >> 1)) * M;
  }

  /// Each edge of the patch adds its one or two products into its row.
  __device__ __forceinline__ void gather(const patch_place &p, int turn) const
  {
    const kg_real *other = s_y + a.batch.count.max_local * M;
    kg_real *y = (kg_real *)a.y + (int64_t)p.edge0 * M;
    for (int i = threadIdx.x; i < p.n_inside * M; i += T) y[i] = s_y[i] + other[i];
    const uint64_t soon_read = kg_leave_last();
    for (int i = threadIdx.x; i < p.n_halo * M; i += T) {
      auto *row = (kg_real *)kg_halo_row(&a, halo(turn)[i / M], M * sizeof(kg_real));
      if (row) kg_store(row + i % M, s_y[p.n_inside * M + i], soon_read);
    }
  }
};

/// Side codes of this thread's element.
template <class shape>
__device__ __forceinline__ element_codes<shape::facets> read_codes(const kg_trace_apply_args &a,
                                                                   int patch)
{
  const int64_t element = (int64_t)patch * shape::threads + threadIdx.x;
  element_codes<shape::facets> codes = {};
  if (element < a.batch.count.n_elements) codes.load(a.batch.arrays.side_codes, element);
  return codes;
}

/// The numbers of this thread's element, as the ring brings them.
template <class shape>
struct ring_entries {
  typename shape::ring &ring;
  const kg_real *rows;

  __device__ __forceinline__ kg_real take(int t)
  {
    constexpr int E = shape::entries;
    if (t % E == 0) rows = ring.wait();
    const kg_real value = rows[t % E * 32 + threadIdx.x % 32];
    if (t % E == E - 1 || t == shape::total - 1) ring.release();
    return value;
  }
};

template <class shape, int M>
__global__ void __launch_bounds__(shape::threads, shape::blocks)
    KG_REAL(trace_apply_stream)(const kg_trace_apply_args a, unsigned *counter)
{
  constexpr int FACETS = shape::facets, n = shape::n, T = shape::threads, W = shape::warps;
  constexpr int RING = shape::slots * shape::entries * 32;  // numbers of one warp's ring
  KG_SHARED(__align__(1024) unsigned char, s_memory);
  __shared__ double s_warp[W];
  kg_chain_next();  // to the halo's small blocks: where they start does not matter
  const int thread = threadIdx.x, warp = thread / 32, step = gridDim.x;
  kg_real *s_ring = (kg_real *)(s_memory + 1024);
  const patch_memory<shape, M> memory(a, s_ring + W * RING);
  typename shape::ring ring;
  const int64_t first_group = (int64_t)blockIdx.x * W + warp;
  ring.start(s_ring + warp * RING, (uint64_t *)s_memory + warp * shape::slots,
             (const kg_real *)a.local.data, first_group, a.batch.count.n_groups, (int64_t)step * W);

  int patch = blockIdx.x;
  patch_place now = place_of(a, patch), next = place_of(a, patch + step);
  fetch_halo<shape::threads>(a, now, memory.halo(0));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  element_codes<FACETS> codes = read_codes<shape>(a, patch);
  kg_chain_wait();  // so far nothing that the kernel in front writes
  if (kg_stopped(a.pass.stop)) {
    ring.drain();
    return;
  }
  memory.fetch_patch(now, 0);
  fetch_halo<shape::threads>(a, next, memory.halo(1));
  __pipeline_commit();
  double dot = 0.0;

  for (int turn = 0; patch < a.batch.count.n_patches; patch += step) {
    const int next_turn = turn == 2 ? 0 : turn + 1;
    const patch_place after = place_of(a, patch + 2 * step);
    const bool active = (int64_t)patch * W + warp < a.batch.count.n_groups;
    __pipeline_wait_prior(0);
    __syncthreads();
    kg_real x[n], y[n];
    int code[FACETS];
    if (active) {
#pragma unroll
      for (int l = 0; l < FACETS; ++l) {
        code[l] = codes.code(l);
        load_edge<M>(x + l * M, memory.s_x + (code[l] >> 1) * M);
      }
    }
    __syncthreads();  // s_x is free for the next patch
    memory.fetch_patch(next, next_turn);
    fetch_halo<shape::threads>(a, after, memory.halo(3 - turn - next_turn));
    __pipeline_commit();
    codes = read_codes<shape>(a, patch + step);
    if (active) {
      ring_entries<shape> entries = {ring, nullptr};
      dot += multiply_element<FACETS, M, shape::reduced>(
          entries, a.local.layout == KG_LAYOUT_DIFFERENCES, x, y);
      if ((int64_t)patch * T + thread < a.batch.count.n_elements) {
#pragma unroll
        for (int l = 0; l < FACETS; ++l) store_edge<M>(memory.product(code[l]), y + l * M);
      }
    }
    __syncthreads();
    memory.gather(now, turn);
    turn = next_turn;
    now = next;
    next = after;
  }
  if (a.pass.sum.total != nullptr) kg_grid_sum_end(dot, a.pass.sum, counter, s_warp);
}

/// Allow blocks all the shared memory there is (the limit belongs to the process, not to a
/// context), and learn how many blocks are resident.
template <class Kernel>
kedge_status prepare(kedge_context *ctx, Kernel kernel, int threads, size_t shared,
                     kg_cuda_residency *residency)
{
  if (residency->shared == shared) return KEDGE_OK;
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)kernel, (size_t)kg_cuda(ctx)->shared_limit,
                                "trace_apply"));
  int blocks = 0;
  KG_TRY(kg_cuda_check(
      ctx, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared),
      "trace_apply: asking for the occupancy"));
  *residency = {shared, blocks};
  return KEDGE_OK;
}

/// Launches as many blocks as the device holds at once; each walks over the patches.
template <int FACETS, int M, bool REDUCED>
kedge_status launch_stream(kedge_context *ctx, const kg_trace_apply_args &a)
{
  using shape = stream_shape<FACETS, M, REDUCED>;
  const auto kernel = KG_REAL(trace_apply_stream)<shape, M>;
  const size_t shared = stream_bytes(FACETS, M, REDUCED, a.batch.count);
  constexpr int form = FACETS == 4 ? 2 : REDUCED;
  kg_cuda_residency *residency = &kg_cuda(ctx)->stream_residency[a.local.number][form][M];
  KG_TRY(prepare(ctx, kernel, shape::threads, shared, residency));
  const unsigned grid = kg_cuda_blocks(ctx, a.batch.count.n_patches, residency->blocks);
  return kg_chain_launch(ctx, "trace_apply", kernel, grid, shape::threads, shared,
                         a.pass.after_vectors, a, kg_cuda(ctx)->counters + KG_COUNTER_TRACE_APPLY);
}

template <int FACETS, bool REDUCED, int FIRST, int LAST>
kedge_status launch_streams(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_modes<FIRST, LAST>(
      ctx, a.batch.m, [&](auto m) { return launch_stream<FACETS, m(), REDUCED>(ctx, a); });
}

}  // namespace

/// One translation unit for each form and half of the numbers of modes: they compile side by side.
kedge_status KG_REAL(kg_trace_apply_stream_low)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_stream_high)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_reduced_low)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_reduced_high)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_stream_four)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_many_packed)(kedge_context *ctx, const kg_trace_apply_args &a);
kedge_status KG_REAL(kg_trace_apply_many_reduced)(kedge_context *ctx, const kg_trace_apply_args &a);
enum { KG_STREAM_LOW_MAX = 8 };

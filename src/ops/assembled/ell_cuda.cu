// The ELL matrix assembled and applied as King 2014 documents it.
//
// Algorithm 1: the sides of all elements, keyed by their trace edge, are sorted (stable: the lower
// of two sides stays first); run lengths say how many sides an edge has, their scan where they
// begin. Algorithm 2: one thread a row collects the entries of its one or two K^e.
//
// Layout: entry-major, so that the 32 rows of a warp read and write whole lines of column and
// value. Cost of the product: 12 bytes an entry and 16 a row; x comes from cache. No floating-point
// atomics: x . y is summed by a fixed grid and then by its last block, in order.

// CUB's own NVTX ranges would lie between those of kedge.
#define CCCL_DISABLE_NVTX
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>

#include "device/cuda_each.cuh"
#include "ops/assembled/ell.h"
#include "ops/assembled/ell_block.h"
#include "ops/vector/grid_sum.cuh"

namespace
{
constexpr int BLOCK = 256;
// The product runs as many blocks: each thread then has 40 registers for five entries and their x.
constexpr int BLOCKS_PER_SM = 6;

/// The work memory: four arrays of one number a side, the number of runs, then CUB's scratch. An
/// edge has at least one side, so arrays of edges fit into those of sides.
struct WorkShape {
  int32_t n_sides, n_edges;
  int bits;  // of an edge number
  size_t array, runs, scratch;

  size_t total() const
  {
    return 4 * array + runs + scratch;
  }
};

/// CUB's three steps; without `scratch` they only say how much of it they need.
cudaError_t sort(const WorkShape &w, void *scratch, size_t &bytes, cub::DoubleBuffer<int32_t> &edge,
                 cub::DoubleBuffer<kg_side> &side, cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, edge, side, w.n_sides, 0, w.bits, stream);
}

cudaError_t run_lengths(const WorkShape &w, void *scratch, size_t &bytes, const int32_t *edge,
                        int32_t *distinct, int32_t *length, int32_t *n_runs, cudaStream_t stream)
{
  return cub::DeviceRunLengthEncode::Encode(scratch, bytes, edge, distinct, length, n_runs,
                                            w.n_sides, stream);
}

cudaError_t scan(const WorkShape &w, void *scratch, size_t &bytes, const int32_t *length,
                 int32_t *begin, cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, length, begin, w.n_edges, stream);
}

kedge_status work_shape(kedge_context *ctx, const kg_trace_counts *count, WorkShape *out)
{
  WorkShape w = {(int32_t)count->n_sides, count->n_edges, 1, 0, 0, 0};
  while (w.bits < 31 && count->n_edges >> w.bits) ++w.bits;
  w.array = kg_rounded((size_t)w.n_sides * sizeof(int32_t));
  w.runs = kg_rounded(sizeof(int32_t));
  cub::DoubleBuffer<int32_t> no_edge(nullptr, nullptr);
  cub::DoubleBuffer<kg_side> no_side(nullptr, nullptr);
  size_t sorting = 0, encoding = 0, scanning = 0;
  KG_TRY(kg_cuda_check(ctx, sort(w, nullptr, sorting, no_edge, no_side, nullptr),
                       "sizing the sort of the sides"));
  KG_TRY(kg_cuda_check(
      ctx, run_lengths(w, nullptr, encoding, nullptr, nullptr, nullptr, nullptr, nullptr),
      "sizing the run lengths of the edges"));
  KG_TRY(kg_cuda_check(ctx, scan(w, nullptr, scanning, nullptr, nullptr, nullptr),
                       "sizing the scan of the edges"));
  const size_t most = sorting > encoding ? sorting : encoding;
  w.scratch = kg_rounded(most > scanning ? most : scanning);
  *out = w;
  return KEDGE_OK;
}

/// Thread = facet of an element of a kg_local: its edge and its side. Empty lanes get no thread.
__global__ void __launch_bounds__(BLOCK)
    list_sides_kernel(const kg_trace_arrays arrays, int32_t first_lane, int n_facets,
                      int32_t n_sides, int32_t *edge, kg_side *side)
{
  const int64_t s = kg_thread_number();
  if (s >= n_sides) return;
  const int32_t e = first_lane + (int32_t)(s / n_facets);
  const int l = (int)(s % n_facets);
  edge[s] = (int32_t)(arrays.side_edge[kg_facet_at(&arrays, e, l)] >> 1);
  side[s] = kg_side_of(e, l);
}

kedge_status list_sides(kedge_context *ctx, const kg_ell_assemble_args &a, int32_t *edge,
                        kg_side *side)
{
  for (int i = 0, at = 0; i < a.locals.n_locals; ++i) {
    const kg_local &local = a.locals.local[i];
    const int n_facets = kg_facets_of_lane(&a.batch.arrays, local.first_lane);
    const int32_t n = n_facets * local.n_elements;
    KG_TRY(kg_launch_each<BLOCK>(ctx, "listing the sides of the elements", n, list_sides_kernel,
                                 a.batch.arrays, local.first_lane, n_facets, n, edge + at,
                                 side + at));
    at += n;
  }
  return KEDGE_OK;
}

/// The local-to-global map by edge, in the work memory.
struct EdgeMap {
  const int32_t *begin;   // [edge]: its first side
  const int32_t *length;  // [edge]: 1 or 2 sides
  const kg_side *side;    // sorted by edge
};

/// Algorithm 1. Every edge has a side, so the distinct edges are 0, 1, 2, ... and are not kept.
kedge_status map_edges(kedge_context *ctx, const kg_ell_assemble_args &a, EdgeMap *out)
{
  WorkShape w;
  KG_TRY(work_shape(ctx, &a.batch.count, &w));
  char *const work = (char *)a.work;
  int32_t *const array[] = {(int32_t *)work, (int32_t *)(work + w.array),
                            (int32_t *)(work + 2 * w.array), (int32_t *)(work + 3 * w.array)};
  int32_t *const n_runs = (int32_t *)(work + 4 * w.array);
  void *const scratch = work + 4 * w.array + w.runs;
  const cudaStream_t stream = kg_cuda_stream(ctx);

  KG_TRY(list_sides(ctx, a, array[0], (kg_side *)array[2]));
  cub::DoubleBuffer<int32_t> edge(array[0], array[1]);
  cub::DoubleBuffer<kg_side> side((kg_side *)array[2], (kg_side *)array[3]);
  size_t bytes = w.scratch;
  KG_TRY(
      kg_cuda_check(ctx, sort(w, scratch, bytes, edge, side, stream), "sorting the sides by edge"));
  int32_t *const distinct = edge.Alternate(), *const length = (int32_t *)side.Alternate();
  KG_TRY(kg_cuda_check(
      ctx, run_lengths(w, scratch, bytes, edge.Current(), distinct, length, n_runs, stream),
      "counting the sides of the edges"));
  int32_t *const begin = edge.Current();  // the sorted edges have served
  KG_TRY(kg_cuda_check(ctx, scan(w, scratch, bytes, length, begin, stream), "scanning the edges"));
  *out = {begin, length, side.Current()};
  return KEDGE_OK;
}

/// Algorithm 2: thread = row, and the padding rows beyond the last.
__global__ void __launch_bounds__(BLOCK)
    fill_rows_kernel(const kg_ell_assemble_args a, const EdgeMap map)
{
  const int64_t row = kg_thread_number();
  const kg_ell_matrix &matrix = a.matrix;
  if (row >= matrix.stride) return;
  const int m = a.batch.m;
  const int32_t edge = (int32_t)(row / m);
  const int i = (int)(row % m);
  const bool exists = row < matrix.rows;
  const int32_t begin = exists ? map.begin[edge] : 0;
  const kg_side first = exists ? map.side[begin] : KG_NO_SIDE;
  const kg_side second = exists && map.length[edge] == 2 ? map.side[begin + 1] : KG_NO_SIDE;
  int32_t *column = matrix.column + row;
  double *value = matrix.value + row;
  for (int q = 0; q < matrix.blocks; ++q) {
    kg_ell_block block;
    block.edge = -1;
    if (exists) block = kg_ell_block_of(&a.locals, &a.batch.arrays, m, edge, first, second, q);
    for (int j = 0; j < m; ++j, column += matrix.stride, value += matrix.stride) {
      *column = block.edge < 0 ? -1 : block.edge * m + j;
      *value = block.edge < 0 ? 0.0 : kg_ell_block_entry(&block, i, j);
    }
  }
}

/// A row's entries, five (or seven) at a time and without a branch, so that their loads overlap: a
/// missing entry loads x[0] and drops it. Entries pass by once and do not displace x in the caches.
template <int BLOCKS>
__device__ __forceinline__ double multiply_row(const kg_ell_matrix &matrix,
                                               const double *__restrict__ x, int64_t row)
{
  const int32_t *__restrict__ column = matrix.column + row;
  const double *__restrict__ value = matrix.value + row;
  double sum = 0.0;
  for (int k = 0; k < matrix.width; k += BLOCKS) {
    int32_t c[BLOCKS];
    double v[BLOCKS], xc[BLOCKS];
#pragma unroll
    for (int u = 0; u < BLOCKS; ++u) {
      c[u] = __ldcs(column);
      v[u] = __ldcs(value);
      column += matrix.stride;
      value += matrix.stride;
    }
#pragma unroll
    for (int u = 0; u < BLOCKS; ++u) xc[u] = __ldg(x + max(c[u], 0));
#pragma unroll
    for (int u = 0; u < BLOCKS; ++u) sum += v[u] * (c[u] < 0 ? 0.0 : xc[u]);
  }
  return sum;
}

template <int BLOCKS>
__global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    apply_kernel(const kg_ell_apply_args a, unsigned *counter)
{
  if (kg_stopped(a.pass.stop)) return;
  double dot = 0.0;
  for (int64_t row = kg_thread_number(); row < a.matrix.rows; row += (int64_t)gridDim.x * BLOCK) {
    const double sum = multiply_row<BLOCKS>(a.matrix, a.x, row);
    a.y[row] = sum;
    if (a.pass.sum.total) dot += a.x[row] * sum;
  }
  if (!a.pass.sum.total) return;

  __shared__ double s_warp[BLOCK / 32];
  kg_grid_sum_end(dot, a.pass.sum, counter, s_warp);
}
}  // namespace

extern "C" kedge_status kg_ell_work_bytes_cuda(kedge_context *ctx, const kg_trace_counts *count,
                                               size_t *bytes)
{
  WorkShape w;
  KG_TRY(work_shape(ctx, count, &w));
  *bytes = w.total();
  return KEDGE_OK;
}

extern "C" kedge_status kg_ell_assemble_cuda(kedge_context *ctx, const kg_ell_assemble_args *args)
{
  EdgeMap map;
  KG_TRY(map_edges(ctx, *args, &map));
  return kg_launch_each<BLOCK>(ctx, "filling the ELL matrix", args->matrix.stride, fill_rows_kernel,
                               *args, map);
}

extern "C" kedge_status kg_ell_apply_cuda(kedge_context *ctx, const kg_ell_apply_args *args)
{
  int64_t pieces = (args->matrix.rows + BLOCK - 1) / BLOCK;
  if (pieces > KG_PIECES) pieces = KG_PIECES;
  const auto kernel = args->matrix.blocks == KG_ELL_FOUR_BLOCKS ? apply_kernel<KG_ELL_FOUR_BLOCKS>
                                                                : apply_kernel<KG_ELL_BLOCKS>;
  // One block at least: without rows there is a sum to set.
  return kg_launch(ctx, "applying the ELL matrix", kg_cuda_blocks(ctx, pieces, BLOCKS_PER_SM),
                   BLOCK, 0, kernel, *args, kg_cuda(ctx)->counters + KG_COUNTER_ELL);
}

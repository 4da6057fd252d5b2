// formats_apply.cu: y = A x with block-ELL, one thread a row.
// Layout  block-ELL values [entry][row] or [slice][entry][row of the slice]: a warp reads 256
//         consecutive bytes an entry, once. Block columns [block][edge], shared by the m rows.
// Cost    formats.c.
#include "device/cuda_rt.h"
#include "formats.h"
#include "ops/assembled/ell_block.h"
#include "ops/trace/load_edge.cuh"

namespace
{

constexpr int BLOCK = 256;

/// Where a row's values lie: entry k at first[k * step].
struct Row {
  const double *first;
  int64_t step;
};

template <int M, bool SLICED>
__device__ __forceinline__ Row row_of(const double *values, int64_t stride, int64_t row)
{
  constexpr int64_t size = (int64_t)KG_ELL_BLOCKS * M * FORMAT_SLICE;
  if (SLICED) return {values + row / FORMAT_SLICE * size + row % FORMAT_SLICE, FORMAT_SLICE};
  return {values + row, stride};
}

/// x comes through the cache: the m rows of an edge ask for the same words. No branch, so that the
/// loads of the five blocks overlap; a missing block multiplies zeros with edge 0.
template <int M, bool SLICED>
__global__ void __launch_bounds__(BLOCK)
    block_ell_cached_kernel(const double *__restrict__ values, const int32_t *__restrict__ columns,
                            int64_t rows, int64_t stride, int64_t edges,
                            const double *__restrict__ x, double *__restrict__ y)
{
  const int64_t row = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const Row r = row_of<M, SLICED>(values, stride, row);
  const int64_t edge = row / M;
  int32_t column[KG_ELL_BLOCKS];
#pragma unroll
  for (int q = 0; q < KG_ELL_BLOCKS; ++q) column[q] = __ldg(columns + q * edges + edge);
  double sum = 0.0;
#pragma unroll
  for (int q = 0; q < KG_ELL_BLOCKS; ++q) {
    double xe[M];
    kg_load_edge<M>(x + (int64_t)column[q] * M, xe);
#pragma unroll
    for (int j = 0; j < M; ++j) sum += __ldcs(r.first + (q * M + j) * r.step) * xe[j];
  }
  y[row] = sum;
}

/// Edges of a block of the staged kernel: whole warps of rows, at least 256.
template <int M>
constexpr int STAGED_EDGES = 32 * ((BLOCK + 32 * M - 1) / (32 * M));

/// A block takes whole edges. Each thread brings one mode of the five edges of its row into shared
/// memory, so that x is read once a row and not m times; the values of the next block of entries
/// are on their way while one is used.
template <int M, bool SLICED>
__global__ void __launch_bounds__(M *STAGED_EDGES<M>)
    block_ell_staged_kernel(const double *__restrict__ values, const int32_t *__restrict__ columns,
                            int64_t rows, int64_t stride, int64_t edges,
                            const double *__restrict__ x, double *__restrict__ y)
{
  __shared__ double s_x[STAGED_EDGES<M>][KG_ELL_BLOCKS * M];
  const int slot = threadIdx.x / M, i = threadIdx.x % M;
  const int64_t edge = (int64_t)blockIdx.x * STAGED_EDGES<M> + slot, row = edge * M + i;
  const bool active = row < rows;
  const Row r = row_of<M, SLICED>(values, stride, active ? row : 0);
  double v[M];
  if (active) {
#pragma unroll
    for (int j = 0; j < M; ++j) v[j] = __ldcs(r.first + j * r.step);
#pragma unroll
    for (int q = 0; q < KG_ELL_BLOCKS; ++q)
      s_x[slot][q * M + i] = __ldg(x + (int64_t)__ldg(columns + q * edges + edge) * M + i);
  }
  __syncthreads();
  if (!active) return;
  double sum = 0.0;
#pragma unroll
  for (int q = 0; q < KG_ELL_BLOCKS; ++q) {
    double next[M];
    if (q + 1 < KG_ELL_BLOCKS) {
#pragma unroll
      for (int j = 0; j < M; ++j) next[j] = __ldcs(r.first + ((q + 1) * M + j) * r.step);
    }
#pragma unroll
    for (int j = 0; j < M; ++j) sum += v[j] * s_x[slot][q * M + j];
    if (q + 1 < KG_ELL_BLOCKS) {
#pragma unroll
      for (int j = 0; j < M; ++j) v[j] = next[j];
    }
  }
  y[row] = sum;
}

using apply_fn = kedge_status(kedge_context *, const format_matrix &);

template <int P, bool SLICED, bool STAGED>
kedge_status launch_block_ell(kedge_context *ctx, const format_matrix &a)
{
  constexpr int M = P + 1;
  constexpr int threads = STAGED ? M * STAGED_EDGES<M> : BLOCK;
  const auto kernel =
      STAGED ? block_ell_staged_kernel<M, SLICED> : block_ell_cached_kernel<M, SLICED>;
  const kg_ell_matrix &ell = a.source.ell;
  const unsigned grid = (unsigned)((ell.rows + threads - 1) / threads);
  kernel<<<grid, threads, 0, kg_cuda_stream(ctx)>>>(
      a.values, (const int32_t *)a.column.data, ell.rows, ell.stride, a.source.batch.count.n_free,
      a.source.x, a.source.y);
  return kg_cuda_launched(ctx, "applying block-ELL");
}

/// The launcher of an order.
template <bool SLICED, bool STAGED>
apply_fn *block_ell_of(int order)
{
  static apply_fn *const by_order[] = {
      launch_block_ell<1, SLICED, STAGED>,  launch_block_ell<2, SLICED, STAGED>,
      launch_block_ell<3, SLICED, STAGED>,  launch_block_ell<4, SLICED, STAGED>,
      launch_block_ell<5, SLICED, STAGED>,  launch_block_ell<6, SLICED, STAGED>,
      launch_block_ell<7, SLICED, STAGED>,  launch_block_ell<8, SLICED, STAGED>,
      launch_block_ell<9, SLICED, STAGED>,  launch_block_ell<10, SLICED, STAGED>,
      launch_block_ell<11, SLICED, STAGED>, launch_block_ell<12, SLICED, STAGED>};
  static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX, "one entry per order");
  return by_order[order - 1];
}

}  // namespace

extern "C" kedge_status format_apply_block_ell(kedge_context *ctx, const format_matrix *matrix,
                                               bool sliced, bool staged)
{
  const int order = matrix->source.batch.reference.size.order;
  apply_fn *const fn =
      sliced ? (staged ? block_ell_of<true, true> : block_ell_of<true, false>)(order)
             : (staged ? block_ell_of<false, true> : block_ell_of<false, false>)(order);
  return fn(ctx, *matrix);
}

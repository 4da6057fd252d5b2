// csr_apply_cuda.cu: products of sparse matrices with vectors.
// Layout  rows compressed; entries of neighbouring rows lie behind each other.
// Map     many rows: block = ROWS consecutive rows. All its threads take the entries of these rows
//         in their order, a tile at a time, and leave the terms in shared memory; then thread = row
//         adds its terms. Loads are whole lines however long rows are.
//         Few rows: as many lanes as a row has entries, so that a row takes one load after another
//         of row, column and x, not as many as it has entries: what counts is when the last ends.
//         Many rows of many vectors: four lanes, each of two vectors and every other entry.
//         Kernels of lanes are chained: what they read of the matrix, which no kernel of a cycle
//         writes, has come when the kernel before them ends.
//         One writer a row, terms in an order that depends on the matrix alone: repeatable bits.
// Cost    8 bytes an entry, 6 of a prolongation, and vectors; 2 flops: bound by memory or latency.
#include "device/cuda_chain.cuh"
#include "device/cuda_each.cuh"
#include "precondition/amg/csr_apply.h"

namespace
{

enum {
  ROWS = 128,            // of a block, and its threads
  EACH = 8,              // entries of a tile a thread
  TILE = ROWS * EACH,    // entries
  FEW_ROWS = 30 * 1024,  // of fewer, a GPU has too few blocks to hide latency
  PAIRS = 4,             // lanes of a row, where each has two of KG_VECTORS vectors
};

/// Whether the matrix goes from one level to another: a prolongation or its transpose, with entries
/// in parts of one.
template <kg_csr_rule RULE>
constexpr bool HAS_PARTS = RULE == KG_CSR_RESTRICT || RULE == KG_CSR_PROLONG;

/// Entries pass by once and do not displace x in the caches.
template <kg_csr_rule RULE>
__device__ __forceinline__ double value_of(const kg_csr_apply_args &a, int32_t e)
{
  return HAS_PARTS<RULE> ? (double)__ldcs(a.matrix.part + e) / KG_CSR_PARTS
                         : (double)__ldcs(a.matrix.value + e);
}

/// Term e of the product. Not by __ldg: x changes while a chained kernel is there and waits.
template <kg_csr_rule RULE>
__device__ __forceinline__ double term(const kg_csr_apply_args &a, int32_t e)
{
  return value_of<RULE>(a, e) * a.x[__ldcs(a.matrix.column + e)];
}

template <kg_csr_rule RULE>
__global__ void __launch_bounds__(ROWS) csr_blocks_kernel(const kg_csr_apply_args a)
{
  __shared__ double s_term[TILE];
  const int32_t n_rows = a.matrix.n_rows, first_row = (int32_t)blockIdx.x * ROWS;
  const int32_t i = first_row + (int32_t)threadIdx.x;
  const int32_t begin = i < n_rows ? a.matrix.row[i] : 0;
  const int32_t end = i < n_rows ? a.matrix.row[i + 1] : 0;
  const int32_t first = a.matrix.row[first_row];
  const int32_t last = a.matrix.row[min(n_rows - first_row, (int32_t)ROWS) + first_row];
  double sum = 0.0;
  for (int32_t tile = first; tile < last; tile += TILE) {
    if (tile > first) __syncthreads();  // the terms of the tile before have been added
#pragma unroll
    for (int u = 0; u < EACH; ++u) {
      const int32_t at = u * ROWS + (int32_t)threadIdx.x;
      if (at < last - tile) s_term[at] = term<RULE>(a, tile + at);
    }
    __syncthreads();
    const int32_t from = max(begin - tile, 0), to = min(end - tile, (int32_t)TILE);
    for (int32_t at = from; at < to; ++at) sum += s_term[at];
  }
  if (i >= n_rows) return;
  const kg_csr_row row = kg_csr_row_of(&a, RULE, i, i);
  kg_csr_finish(&a, RULE, i, &row, sum);
}

/// K numbers of a vector's row, side by side.
template <int K>
struct alignas(K * sizeof(double)) csr_numbers {
  double value[K];
};

/// Thread = lane of a row, which adds entries to the sums of W of K vectors. Lanes with the same
/// vectors share the entries of the row.
template <kg_csr_rule RULE, int LANES, int K, int W = K>
__global__ void __launch_bounds__(ROWS) csr_lanes_kernel(const kg_csr_apply_args a)
{
  constexpr int STEP = LANES * W / K;  // lanes with the same vectors
  static_assert(STEP >= W, "a lane finishes a vector");
  constexpr int EARLY = W == K ? 2 : 4;  // entries a lane loads before it waits: of short rows all
  const int32_t i = (int32_t)((blockIdx.x * ROWS + threadIdx.x) / LANES);
  const int lane = threadIdx.x % STEP, set = threadIdx.x % LANES / STEP;
  const bool exists = i < a.matrix.n_rows;
  int32_t column[EARLY];
  double value[EARLY], sum[W] = {};
  const auto add = [&](double entry, int32_t of) {
    const auto x = ((const csr_numbers<W> *)a.x)[(int64_t)of * (K / W) + set];
#pragma unroll
    for (int v = 0; v < W; ++v) sum[v] += entry * x.value[v];
  };
  kg_chain_next();
  const int32_t begin = exists ? a.matrix.row[i] : 0, end = exists ? a.matrix.row[i + 1] : 0;
#pragma unroll
  for (int u = 0; u < EARLY; ++u) {
    const int32_t e = begin + lane + u * STEP;
    column[u] = e < end ? __ldcs(a.matrix.column + e) : -1;
    value[u] = e < end ? value_of<RULE>(a, e) : 0.0;
  }
  kg_chain_wait();
  const int64_t at = (int64_t)i * K + set * W + lane;  // what this lane finishes, if one of W
  kg_csr_row row = {};
  if (exists && lane < W) row = kg_csr_row_of(&a, RULE, i, at);
#pragma unroll
  for (int u = 0; u < EARLY; ++u)
    if (column[u] >= 0) add(value[u], column[u]);
  for (int32_t e = begin + lane + EARLY * STEP; e < end; e += STEP)
    add(value_of<RULE>(a, e), __ldcs(a.matrix.column + e));
#pragma unroll
  for (int v = 0; v < W; ++v)
#pragma unroll
    for (int offset = STEP / 2; offset > 0; offset /= 2)
      sum[v] += __shfl_xor_sync(0xffffffffu, sum[v], offset, LANES);
  double own = sum[0];
#pragma unroll
  for (int v = 1; v < W; ++v)
    if (lane == v) own = sum[v];
  if (exists && lane < W) kg_csr_finish(&a, RULE, at, &row, own);
}

using kernel = void (*)(kg_csr_apply_args);

kedge_status launch(kedge_context *ctx, const kg_csr_apply_args *a, kernel apply, int lanes,
                    bool chained, const char *name)
{
  if (a->matrix.n_rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  const unsigned threads = (unsigned)a->matrix.n_rows * (unsigned)lanes;
  return kg_chain_launch(ctx, name, apply, (threads + ROWS - 1) / ROWS, ROWS, 0, chained, *a);
}

/// Kernels of a rule: of many rows, and of few by the number of lanes of a row.
struct Kernels {
  kernel many_rows, lanes[4];
};

template <kg_csr_rule RULE, int K>
constexpr Kernels kernels_of()
{
  return {K == 1 ? csr_blocks_kernel<RULE> : csr_lanes_kernel<RULE, PAIRS, KG_VECTORS, 2>,
          {csr_lanes_kernel<RULE, 4, K>, csr_lanes_kernel<RULE, 8, K>,
           csr_lanes_kernel<RULE, 16, K>, csr_lanes_kernel<RULE, 32, K>}};
}

/// The kernels of every rule.
template <int K>
constexpr Kernels all_kernels[] = {kernels_of<KG_CSR_STEP, K>(), kernels_of<KG_CSR_RESIDUAL, K>(),
                                   kernels_of<KG_CSR_RESTRICT, K>(),
                                   kernels_of<KG_CSR_PROLONG, K>(), kernels_of<KG_CSR_SCALED, K>()};

}  // namespace

extern "C" kedge_status kg_csr_start_cuda(kedge_context *ctx, const kg_csr_apply_args *a)
{
  const int64_t n = a->matrix.n_rows;
  if (a->many) return kg_do_each<ROWS, kg_csr_start_many>(ctx, "csr_start", n * KG_VECTORS, *a);
  return kg_do_each<ROWS, kg_csr_start_row>(ctx, "csr_start", n, *a);
}

extern "C" kedge_status kg_csr_apply_cuda(kedge_context *ctx, kg_csr_rule rule,
                                          const kg_csr_apply_args *a)
{
  const kg_csr &matrix = a->matrix;
  const bool of_cycle = rule != KG_CSR_SCALED;  // that is of the set-up, which makes matrices
  const Kernels &kernels = (a->many ? all_kernels<KG_VECTORS> : all_kernels<1>)[rule];
  if (matrix.n_rows > FEW_ROWS && a->many)
    return launch(ctx, a, kernels.many_rows, PAIRS, of_cycle, "csr_pairs");
  if (matrix.n_rows > FEW_ROWS) return launch(ctx, a, kernels.many_rows, 1, false, "csr_blocks");
  int k = 0;  // 4 << k lanes
  while (k < 3 && (int64_t)(4 << k) * matrix.n_rows < matrix.n_entries) ++k;
  return launch(ctx, a, kernels.lanes[k], 4 << k, of_cycle, "csr_lanes");
}

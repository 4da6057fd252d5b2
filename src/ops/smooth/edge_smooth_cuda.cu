// edge_smooth_cuda.cu: d = momentum d + step B^-1 (r - A z), z += d, r . z (edge_smooth.h).
// Layout  W in 32 or 16 bits [edge group][m (m+1) / 2][lane], vectors [edge][mode]
// Map     thread = edge, in strides of the grid: a warp reads whole lines of W, and of a vector
//         32 m consecutive numbers, whose lines stay in the first-level cache until all lanes have
//         taken theirs. (Turning edges in shared memory, with whole lines only, takes half as long
//         again.) With a sum, each block leaves a partial one, and the last block to arrive adds
//         them in order: the bits depend on the number of edges and of multiprocessors alone.
//         With more modes than registers hold, of tetrahedra, a block turns 32 edges at a time in
//         shared memory; a warp makes whole rows of W x, then of W^T (W x).
// Cost    kg_edge_smooth_cost(); with many modes W is read a second time, from a cache
#include "basis/cell.h"
#include "device/cuda_launch.cuh"
#include "ops/by_order.cuh"
#include "ops/smooth/edge_blocks.h"
#include "ops/trace/edge_rows.cuh"
#include "ops/smooth/edge_smooth.h"
#include "ops/vector/advance.cuh"
#include "ops/vector/grid_sum.cuh"

namespace
{

enum {
  THREADS = 256,
  STRIDE = KG_LANES + 1,  // of modes in shared memory, so that modes of an edge lie in all banks
  ANY_BLOCKS = 4,         // of a multiprocessor, of the kernel for any number of modes
};

/// Blocks of a multiprocessor, for which registers are chosen: all that a sum is made by are there
/// at once.
template <int M, int K>
constexpr int BLOCKS = M <= (K == 1 ? 4 : 2) ? 4
                       : M <= 6              ? 3
                       : M <= 11             ? 2
                                             : 1;

template <typename Number>
__device__ __forceinline__ float number_of(Number x)
{
  if constexpr (sizeof(Number) == sizeof(float))
    return x;
  else
    return kg_of_upper_half(x);
}

/// y = W^T (W x), row by row of W.
template <int M, typename Number>
__device__ __forceinline__ void multiply_factor(const Number *factor, const kg_real (&x)[M],
                                                kg_real (&y)[M])
{
#pragma unroll
  for (int i = 0; i < M; ++i) {
    kg_real row[M], sum = 0;
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      row[j] = (kg_real)number_of(factor[kg_packed_entry(i, j) * KG_LANES]);
      sum += row[j] * x[j];
    }
    y[i] = row[i] * sum;
#pragma unroll
    for (int j = 0; j < i; ++j) y[j] += row[j] * sum;
  }
}

/// What there is to a step, beside the blocks.
enum step_kind {
  PLAIN,    // or with a correction by fluxes
  ROWS,     // with a correction by rows of A P
  ADVANCE,  // r takes a step first
};

/// The step of an edge of one of K vectors; returns its part of r . z, or of r . r of ADVANCE.
/// @param by  the factor of the step of r
template <int M, kg_block_form FORM, step_kind KIND, int K>
__device__ __forceinline__ double smooth(const kg_edge_smooth_args &a, int32_t edge, int vector,
                                         double by)
{
  const int64_t row = (int64_t)edge * M * K + vector;
  kg_real r[M], x[M], y[M], z[M];
  double dot = 0.0;
#pragma unroll
  for (int k = 0; k < M; ++k) y[k] = 0, z[k] = 0;
  load_edge_of<M, K>(r, (const kg_real *)a.r + row);
  if constexpr (KIND == ADVANCE) dot = advance_edge<M, K>(a.advance, row, by, r);
  if (a.product != nullptr) {
    load_edge_of<M, K>(y, (const kg_real *)a.product + row);
    if (!a.again) load_edge_of<M, K>(z, (const kg_real *)a.z + row);
  }
  // These values are on their way while vertices are looked up one load after the other.
  kg_edge_correction c = {0.0, 0.0, 0.0};
  double factor[KG_VERTEX_ROW_MAX];
  if constexpr (KIND == ROWS) {
    kg_vertex_row_factors(&a.correction.space.mesh,
                          kg_coarse_vector{a.correction.coarse, K, vector}, edge, factor);
    c.mean = kg_vertex_row_mean(factor);
    c.slope = kg_vertex_row_slope(factor);
  } else if (a.correction.coarse != nullptr) {
    c = kg_edge_correct(&a.correction, edge, K, vector);
  }
#pragma unroll
  for (int k = 0; k < M; ++k) x[k] = r[k] - y[k];
  if (a.again) {
#pragma unroll
    for (int k = 0; k < M; ++k) x[k] += r[k];
  }
  if constexpr (KIND == ROWS) {
#pragma unroll
    for (int k = 0; k < M; ++k)
      x[k] -= (kg_real)kg_vertex_row_product(&a.correction.rows, M, edge, k, factor);
  } else {
    x[0] -= (kg_real)c.flux;
  }
  z[0] += (kg_real)c.mean;
  z[1] += (kg_real)c.slope;
  const int64_t block = kg_edge_block_at(M, edge);
  if constexpr (FORM == KG_BLOCK_HALF)
    multiply_factor<M>((const uint16_t *)a.inverse + block, x, y);
  else
    multiply_factor<M>((const float *)a.inverse + block, x, y);
#pragma unroll
  for (int k = 0; k < M; ++k) y[k] *= (kg_real)a.step;
  if (a.momentum != 0.0) {
    load_edge_of<M, K>(x, (const kg_real *)a.d + row);
#pragma unroll
    for (int k = 0; k < M; ++k) y[k] += (kg_real)a.momentum * x[k];
  }
  if (a.d != nullptr) store_edge_of<M, K>((kg_real *)a.d + row, y);
  if (a.modes.value != nullptr) kg_vertex_modes_add(&a.modes, M, edge, a.step, K, vector, z, 1);
#pragma unroll
  for (int k = 0; k < M; ++k) {
    z[k] += y[k];
    if (KIND != ADVANCE) dot += (double)r[k] * z[k];
  }
  store_edge_of<M, K>((kg_real *)a.z + row, z);
  return dot;
}

template <int M, kg_block_form FORM, step_kind KIND, int K>
__global__ void __launch_bounds__(THREADS, (BLOCKS<M, K>))
    KG_REAL(edge_smooth_kernel)(const kg_edge_smooth_args a, unsigned *counter)
{
  __shared__ double s_warp[THREADS / 32 * K];
  const int vector = threadIdx.x % K;
  const double by = KIND == ADVANCE ? kg_advance_factor(&a.advance, vector) : 0.0;
  double dot = 0.0;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i / K < a.n_edges;
       i += (int64_t)gridDim.x * THREADS)
    dot += smooth<M, FORM, KIND, K>(a, (int32_t)(i / K), vector, by);
  const kg_sum &sum = KIND == ADVANCE ? a.advance.sum : a.sum;
  if (sum.total != nullptr) kg_grid_sums_end<K>(dot, sum, counter, s_warp);
}

/// A plain step with any number of modes.
__global__ void __launch_bounds__(THREADS, ANY_BLOCKS)
    KG_REAL(edge_smooth_any_kernel)(const kg_edge_smooth_args a, unsigned *counter)
{
  __shared__ kg_real s_x[KG_SPACE_FACET_MAX * STRIDE], s_row[KG_SPACE_FACET_MAX * STRIDE];
  __shared__ double s_warp[THREADS / 32];
  const int m = a.m, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const kg_real *const r = (const kg_real *)a.r, *const product = (const kg_real *)a.product;
  kg_real *const z = (kg_real *)a.z, *const d = (kg_real *)a.d;
  double dot = 0.0;
  for (int64_t edge0 = (int64_t)blockIdx.x * KG_LANES; edge0 < a.n_edges;
       edge0 += (int64_t)gridDim.x * KG_LANES) {
    const int edges = (int)min((int64_t)KG_LANES, a.n_edges - edge0);
    const int64_t first = edge0 * m;
    for (int i = thread; i < edges * m; i += THREADS) {
      kg_real x = r[first + i];
      if (product != nullptr) x -= product[first + i];
      if (a.again) x += r[first + i];
      s_x[i % m * STRIDE + i / m] = x;
    }
    __syncthreads();
    const float *const factor = (const float *)a.inverse + kg_edge_block_at(m, (int32_t)edge0);
    for (int i = warp; i < m && lane < edges; i += THREADS / 32) {
      kg_real sum = 0;
#pragma unroll 4
      for (int j = 0; j <= i; ++j)
        sum += (kg_real)factor[kg_packed_entry(i, j) * KG_LANES + lane] * s_x[j * STRIDE + lane];
      s_row[i * STRIDE + lane] = sum;
    }
    __syncthreads();
    for (int j = warp; j < m && lane < edges; j += THREADS / 32) {
      kg_real sum = 0;
#pragma unroll 4
      for (int i = j; i < m; ++i)
        sum += (kg_real)factor[kg_packed_entry(i, j) * KG_LANES + lane] * s_row[i * STRIDE + lane];
      s_x[j * STRIDE + lane] = sum;
    }
    __syncthreads();
    for (int i = thread; i < edges * m; i += THREADS) {
      kg_real y = (kg_real)a.step * s_x[i % m * STRIDE + i / m];
      if (a.momentum != 0.0) y += (kg_real)a.momentum * d[first + i];
      if (d != nullptr) d[first + i] = y;
      if (product != nullptr && !a.again) y += z[first + i];
      if (a.sum.total != nullptr) dot += (double)r[first + i] * y;
      z[first + i] = y;
    }
    __syncthreads();
  }
  if (a.sum.total != nullptr) kg_grid_sum_end(dot, a.sum, counter, s_warp);
}

kedge_status launch_any(kedge_context *ctx, const kg_edge_smooth_args &a)
{
  KG_REQUIRE(ctx,
             !a.many && !a.advance.r && !a.correction.coarse && !a.modes.value &&
                 a.form == KG_BLOCK_FACTOR && a.m <= KG_SPACE_FACET_MAX,
             KEDGE_ERR_INTERNAL, "edge_smooth: %d modes on a facet with more than a plain step",
             a.m);
  const bool sums = a.sum.total != nullptr;
  int64_t pieces = ((int64_t)a.n_edges + KG_LANES - 1) / KG_LANES;
  if (sums && pieces > KG_PIECES) pieces = KG_PIECES;
  return kg_launch(ctx, "edge_smooth", kg_cuda_blocks(ctx, pieces, sums ? ANY_BLOCKS : INT_MAX),
                   THREADS, 0, KG_REAL(edge_smooth_any_kernel), a,
                   kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
}

template <int M, int K>
kedge_status launch(kedge_context *ctx, const kg_edge_smooth_args &a)
{
  const bool sums = a.sum.total != nullptr || a.advance.r != nullptr;
  int64_t pieces = ((int64_t)a.n_edges * K + THREADS - 1) / THREADS;
  if (sums && pieces > KG_PIECES) pieces = KG_PIECES;
  // Without a sum each piece has a block. There is one block at least: without edges the sum is
  // still written.
  const unsigned blocks = kg_cuda_blocks(ctx, pieces, sums ? BLOCKS<M, K> : INT_MAX);
  auto kernel = KG_REAL(edge_smooth_kernel)<M, KG_BLOCK_FACTOR, PLAIN, K>;
  if (a.correction.coarse != nullptr && a.correction.rows.value != nullptr)
    kernel = KG_REAL(edge_smooth_kernel)<M, KG_BLOCK_FACTOR, ROWS, K>;
#ifdef KG_COMPILE_SINGLE  // upper halves are there beside K^e in single precision alone
  if (a.form == KG_BLOCK_HALF) kernel = KG_REAL(edge_smooth_kernel)<M, KG_BLOCK_HALF, PLAIN, K>;
#else
  if constexpr (K > 1)
    if (a.advance.r != nullptr)
      kernel = KG_REAL(edge_smooth_kernel)<M, KG_BLOCK_FACTOR, ADVANCE, K>;
#endif
  return kg_launch(ctx, "edge_smooth", blocks, THREADS, 0, kernel, a,
                   kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_edge_smooth_cuda)(kedge_context *ctx,
                                                     const kg_edge_smooth_args *a)
{
  if (a->m > KEDGE_ORDER_MAX + 1) return launch_any(ctx, *a);
  if (a->many)
    return kg_with_modes<KG_MODES_MIN, KG_MANY_MODES_MAX>(
        ctx, a->m, [&](auto m) { return launch<m(), KG_VECTORS>(ctx, *a); });
  return kg_with_modes(ctx, a->m, [&](auto m) { return launch<m(), 1>(ctx, *a); });
}

// dense_cuda.cu: the inverse of a matrix of some hundred rows, and products with it.
// Layout  while it is made, [row][column]; the rows of a block of pivots [pivot][column], twice: of
//         this block and of the next. Kept: one triangle, row by row.
// Map     inverse: one kernel a block of pivots; a block of threads has a tile of the matrix. Each
//         inverts the diagonal block for itself, which takes less than another launch, and makes
//         what it needs of its rows. The matrix stays in the second cache. Product: a warp a row,
//         whose first 256 entries are loaded before the kernel ahead has ended; those beyond the
//         diagonal lie in a column, a sector each.
// Cost    inverse: n / 32 times 27 microseconds (H200), mostly of waiting for pivots; product: up
//         to 20 n^2 bytes from the second cache.
#include "device/cuda_chain.cuh"
#include "precondition/amg/dense.h"

namespace
{
enum {
  B = KG_DENSE_PIVOTS,
  WARPS = 4,
  THREADS = 256,          // of a tile
  TILE = 64,              // rows and columns
  EACH = B * B / THREADS  // entries of the diagonal block a thread
};

/// A block of pivots, at rows and columns first .. first + n - 1.
struct Pivots {
  int32_t first, n;
  const double *rows;  // [pivot][column], as they were before this block
  double *next;        // those of the next block, to be written
};

/// Thread = row.
__global__ void expand_kernel(const kg_csr matrix, double *a)
{
  const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= matrix.n_rows) return;
  a[(int64_t)i * matrix.n_rows + i] = matrix.diagonal[i];
  for (int32_t e = matrix.row[i]; e < matrix.row[i + 1]; ++e)
    a[(int64_t)i * matrix.n_rows + matrix.column[e]] = (double)matrix.value[e];
}

/// Gauss-Jordan elimination of the diagonal block, by all threads; a row has neighbouring threads.
/// Rows and columns beyond n are those of the identity. Column k has row k in it, of the other sign
/// where that is eliminated. Pivots lie one after another on the way: nothing else may wait there.
__device__ void invert_diagonal(int32_t n, const Pivots &p, double (&s_inverse)[B][B + 1],
                                double (&s_pivot)[B])
{
  __shared__ double s_column[2][B];
  const int i = threadIdx.x / (B / EACH), first = threadIdx.x % (B / EACH) * EACH;
  double a[EACH];
#pragma unroll
  for (int v = 0; v < EACH; ++v) {
    const int j = first + v;
    const bool exists = i < p.n && j < p.n;
    a[v] = exists ? p.rows[(int64_t)i * n + p.first + j] : (i == j ? 1.0 : 0.0);
  }
  for (int k = 0; k < p.n; ++k) {
    double(&column)[B] = s_column[k % 2];  // the other one may still be read
#pragma unroll
    for (int v = 0; v < EACH; ++v)
      if (first + v == k) column[i] = a[v];
    __syncthreads();
    const double pivot = column[k], inverse = __drcp_rn(pivot);
    const double factor = i == k ? -inverse : column[i] * inverse;
    if (threadIdx.x == 0) s_pivot[k] = pivot;
#pragma unroll
    for (int v = 0; v < EACH; ++v) {
      const int j = first + v;
      const double across = j < k ? -column[j] : column[j], before = i == k ? 0.0 : a[v];
      a[v] = j == k ? -factor : before - factor * across;
    }
  }
#pragma unroll
  for (int v = 0; v < EACH; ++v) s_inverse[i][first + v] = a[v];
  __syncthreads();
}

/// s_row = inverse times the rows of the pivots, of the columns of this tile; the inverse itself in
/// its own columns.
__device__ void make_rows(int32_t n, const Pivots &p, const double (&s_inverse)[B][B + 1],
                          double (&s_row)[B][TILE])
{
  constexpr int STRIDE = THREADS / TILE;
  const int x = threadIdx.x % TILE, k0 = threadIdx.x / TILE;
  const int32_t j = (int32_t)blockIdx.x * TILE + x, own = j - p.first;
  for (int k = k0; k < B; k += STRIDE)
    s_row[k][x] = k < p.n && j < n ? p.rows[(int64_t)k * n + j] : 0.0;
  __syncthreads();
  double sum[B / STRIDE] = {};
  for (int l = 0; l < B; ++l) {
    const double below = s_row[l][x];
#pragma unroll
    for (int u = 0; u < B / STRIDE; ++u) sum[u] += s_inverse[k0 + u * STRIDE][l] * below;
  }
  __syncthreads();
  for (int u = 0; u < B / STRIDE; ++u) {
    const int k = k0 + u * STRIDE;
    s_row[k][x] = own >= 0 && own < p.n ? s_inverse[k][own] : sum[u];
  }
}

/// The columns of the pivots are their rows, of the other sign where those have been eliminated.
__device__ void make_columns(int32_t n, const Pivots &p, double (&s_column)[B][TILE])
{
  const int x = threadIdx.x % TILE;
  const int32_t i = (int32_t)blockIdx.y * TILE + x;
  for (int k = threadIdx.x / TILE; k < B; k += THREADS / TILE) {
    const double row = k < p.n && i < n ? p.rows[(int64_t)k * n + i] : 0.0;
    s_column[k][x] = i < p.first ? -row : row;
  }
}

/// Eliminate the pivots from a tile; their own rows become s_row. Thread = 4 x 4 entries, which
/// load while the diagonal block is inverted.
__global__ void __launch_bounds__(THREADS)
    eliminate_kernel(const kg_csr matrix, double *a, const Pivots p, int32_t *fault)
{
  __shared__ double s_inverse[B][B + 1], s_row[B][TILE], s_column[B][TILE], s_pivot[B];
  constexpr int EDGE = 16, SIDE = TILE / EDGE;
  const int32_t n = matrix.n_rows;
  const int x = threadIdx.x % EDGE, y = threadIdx.x / EDGE * SIDE;
  const int32_t i0 = (int32_t)blockIdx.y * TILE + y, j0 = (int32_t)blockIdx.x * TILE + x;
  double entry[SIDE][SIDE];
#pragma unroll
  for (int u = 0; u < SIDE; ++u)
#pragma unroll
    for (int v = 0; v < SIDE; ++v) {
      const int32_t i = i0 + u, j = j0 + EDGE * v;
      const bool own_column = j >= p.first && j < p.first + p.n;
      entry[u][v] = i < n && j < n && !own_column ? a[(int64_t)i * n + j] : 0.0;
    }
  make_columns(n, p, s_column);
  invert_diagonal(n, p, s_inverse, s_pivot);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < p.n)
    if (!kg_dense_is_positive(&matrix, p.first + (int32_t)threadIdx.x, s_pivot[threadIdx.x]))
      *fault = 1;
  make_rows(n, p, s_inverse, s_row);
  __syncthreads();
#pragma unroll 4
  for (int k = 0; k < B; ++k)
#pragma unroll
    for (int u = 0; u < SIDE; ++u)
#pragma unroll
      for (int v = 0; v < SIDE; ++v) entry[u][v] -= s_column[k][y + u] * s_row[k][x + EDGE * v];
#pragma unroll
  for (int u = 0; u < SIDE; ++u)
#pragma unroll
    for (int v = 0; v < SIDE; ++v) {
      const int32_t i = i0 + u, j = j0 + EDGE * v, pivot = i - p.first, next = pivot - B;
      if (i >= n || j >= n) continue;
      if (pivot >= 0 && pivot < p.n) entry[u][v] = s_row[pivot][x + EDGE * v];
      a[(int64_t)i * n + j] = entry[u][v];
      if (next >= 0 && next < B) p.next[(int64_t)next * n + j] = entry[u][v];
    }
}

/// Thread = entry of the triangle.
__global__ void __launch_bounds__(B *B) pack_kernel(int32_t n, const double *a, double *inverse)
{
  const int32_t i = (int32_t)(blockIdx.y * B + threadIdx.y);
  const int32_t j = (int32_t)(blockIdx.x * B + threadIdx.x);
  if (i >= n || j > i) return;
  inverse[kg_dense_at(i, j)] = 0.5 * (a[(int64_t)i * n + j] + a[(int64_t)j * n + i]);
}

/// Warp = row. Rows of the K vectors lie side by side.
template <int K>
__global__ void __launch_bounds__(32 * WARPS)
    dense_apply_kernel(int32_t n, const double *inverse, const double *x, double *y)
{
  constexpr int EARLY = 8;  // entries a lane
  const int32_t i = (int32_t)(blockIdx.x * WARPS + threadIdx.x / 32), lane = threadIdx.x % 32;
  double entry[EARLY], sum[K] = {};
  const auto add = [&](double factor, int32_t j) {
#pragma unroll
    for (int v = 0; v < K; ++v) sum[v] += factor * x[j * K + v];
  };
  kg_chain_next();
#pragma unroll
  for (int u = 0; u < EARLY; ++u) {
    const int32_t j = lane + 32 * u;
    entry[u] = i < n && j < n ? inverse[kg_dense_at(i, j)] : 0.0;
  }
  kg_chain_wait();
  if (i >= n) return;  // a whole warp
#pragma unroll
  for (int u = 0; u < EARLY; ++u)
    if (lane + 32 * u < n) add(entry[u], lane + 32 * u);
#pragma unroll 8
  for (int32_t j = lane + 32 * EARLY; j < n; j += 32) add(inverse[kg_dense_at(i, j)], j);
#pragma unroll
  for (int v = 0; v < K; ++v) {
    for (int offset = 16; offset > 0; offset /= 2)
      sum[v] += __shfl_down_sync(0xffffffffu, sum[v], offset);
    if (lane == 0) y[i * K + v] = sum[v];
  }
}
}  // namespace

extern "C" kedge_status kg_dense_inverse_cuda(kedge_context *ctx, const kg_dense_inverse_args *args)
{
  const int32_t n = args->matrix.n_rows;
  if (n == 0) return KEDGE_OK;  // an empty grid is a launch error
  const unsigned tiles = ((unsigned)n + TILE - 1) / TILE, packed = ((unsigned)n + B - 1) / B;
  double *const a = args->square;
  double *rows = args->work, *next = rows + B * (int64_t)n;
  KG_TRY(kg_zero(ctx, a, (size_t)n * (size_t)n * sizeof *a));
  KG_TRY(kg_launch(ctx, "dense_expand", ((unsigned)n + 127) / 128, 128, 0, expand_kernel,
                   args->matrix, a));
  KG_TRY(kg_copy(ctx, rows, a, (size_t)(n < B ? n : B) * (size_t)n * sizeof *a));
  for (int32_t first = 0; first < n; first += B) {
    const Pivots p = {first, n - first < B ? n - first : B, rows, next};
    KG_TRY(kg_launch(ctx, "dense_eliminate", dim3(tiles, tiles), THREADS, 0, eliminate_kernel,
                     args->matrix, a, p, args->fault));
    double *const other = rows;
    rows = next;
    next = other;
  }
  return kg_launch(ctx, "dense_pack", dim3(packed, packed), dim3(B, B), 0, pack_kernel, n, a,
                   args->inverse);
}

extern "C" kedge_status kg_dense_apply_cuda(kedge_context *ctx, int32_t n, const double *inverse,
                                            const double *x, double *y, bool many)
{
  if (n == 0) return KEDGE_OK;
  return kg_chain_launch(ctx, "dense_apply",
                         many ? dense_apply_kernel<KG_VECTORS> : dense_apply_kernel<1>,
                         ((unsigned)n + WARPS - 1) / WARPS, 32 * WARPS, 0, true, n, inverse, x, y);
}

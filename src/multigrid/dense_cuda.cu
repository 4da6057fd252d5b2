// dense_cuda.cu: the inverse of a matrix of at most a thousand or so rows, and products with it.
// Layout  the matrix [row][column]; of a block of pivots: inverse [pivot][pivot], its rows times that
//         [pivot][column], its columns [pivot][row].
// Map     inverse: three kernels a block of pivots, thread = entry; the matrix stays in the second
//         cache. Product: a warp a row.
// Cost    inverse: n / 32 times some ten microseconds; product: 8 n^2 bytes.
#include "backend/cuda_rt.h"
#include "multigrid/dense.h"

namespace
{
enum { B = KG_DENSE_PIVOTS, WARPS = 4 };

/// A block of pivots, at rows and columns first .. first + n - 1.
struct Pivots {
  int32_t first, n;
  double *inverse, *rows, *columns;
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

/// One block of threads, a warp a row: the inverse of the diagonal block. Missing rows and columns are
/// those of the identity.
__global__ void __launch_bounds__(B *B)
    invert_kernel(const kg_csr matrix, const double *a, const Pivots p, int32_t *fault)
{
  __shared__ double s_row[B];
  const int i = threadIdx.y, j = threadIdx.x;
  const bool exists = i < p.n && j < p.n;
  double value = i == j ? 1.0 : 0.0;
  if (exists) value = a[(int64_t)(p.first + i) * matrix.n_rows + p.first + j];
  for (int k = 0; k < p.n; ++k) {
    const double factor = __shfl_sync(0xffffffffu, value, k);
    if (i == k) {  // the pivot's row alone divides
      const double scale = 1.0 / factor;
      if (j == k && !kg_dense_is_positive(&matrix, p.first + k, factor)) *fault = 1;
      s_row[j] = value = j == k ? scale : value * scale;
    }
    __syncthreads();
    if (i != k) value = (j == k ? 0.0 : value) - factor * s_row[j];
    __syncthreads();  // before the next pivot's row
  }
  p.inverse[i * B + j] = value;
}

/// Block of threads = B columns: rows = inverse times the block's rows, with the inverse itself in its
/// columns; and the block's columns.
__global__ void __launch_bounds__(B *B) rows_kernel(int32_t n, const double *a, const Pivots p)
{
  __shared__ double s_a[B][B], s_column[B][B + 1];
  const int k = threadIdx.y, x = threadIdx.x;
  const int32_t tile = (int32_t)blockIdx.x * B, j = tile + x;
  const bool in_block = j >= p.first && j < p.first + p.n;
  s_a[k][x] = k < p.n && j < n ? a[(int64_t)(p.first + k) * n + j] : 0.0;
  s_column[k][x] = tile + k < n && x < p.n ? a[(int64_t)(tile + k) * n + p.first + x] : 0.0;
  __syncthreads();
  if (j >= n) return;
  double sum = 0.0;
  for (int l = 0; l < B; ++l) sum += p.inverse[k * B + l] * s_a[l][x];
  p.rows[(int64_t)k * n + j] = in_block ? p.inverse[k * B + j - p.first] : sum;
  p.columns[(int64_t)k * n + j] = s_column[x][k];
}

/// Block of threads = B rows of B columns: those outside the block lose its columns.
__global__ void __launch_bounds__(B *B) eliminate_kernel(int32_t n, double *a, const Pivots p)
{
  __shared__ double s_row[B][B], s_column[B][B];
  const int x = threadIdx.x, y = threadIdx.y;
  const int32_t i = (int32_t)blockIdx.y * B + y, j = (int32_t)blockIdx.x * B + x;
  const int32_t column_of = (int32_t)blockIdx.y * B + x;
  s_row[y][x] = y < p.n && j < n ? p.rows[(int64_t)y * n + j] : 0.0;
  s_column[y][x] = y < p.n && column_of < n ? p.columns[(int64_t)y * n + column_of] : 0.0;
  __syncthreads();
  if (i >= n || j >= n) return;
  const bool own_row = i >= p.first && i < p.first + p.n;
  const bool own_column = j >= p.first && j < p.first + p.n;
  double value = own_column ? 0.0 : a[(int64_t)i * n + j];
  for (int k = 0; k < B; ++k) value -= s_column[k][y] * s_row[k][x];
  a[(int64_t)i * n + j] = own_row ? p.rows[(int64_t)(i - p.first) * n + j] : value;
}

/// Thread = entry below the diagonal, and its mirror image.
__global__ void __launch_bounds__(B *B) symmetrize_kernel(int32_t n, double *a)
{
  const int32_t i = (int32_t)(blockIdx.y * B + threadIdx.y);
  const int32_t j = (int32_t)(blockIdx.x * B + threadIdx.x);
  if (i >= n || j >= i) return;
  const double mean = 0.5 * (a[(int64_t)i * n + j] + a[(int64_t)j * n + i]);
  a[(int64_t)i * n + j] = mean;
  a[(int64_t)j * n + i] = mean;
}

__global__ void __launch_bounds__(32 * WARPS)
    dense_apply_kernel(int32_t n, const double *inverse, const double *x, double *y)
{
  const int32_t i = (int32_t)(blockIdx.x * WARPS + threadIdx.x / 32), lane = threadIdx.x % 32;
  if (i >= n) return;  // a whole warp
  const double *row = inverse + (int64_t)i * n;
  double sum = 0.0;
#pragma unroll 8
  for (int32_t j = lane; j < n; j += 32) sum += row[j] * x[j];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[i] = sum;
}
}  // namespace

extern "C" kedge_status kg_dense_inverse_cuda(kedge_context *ctx, const kg_dense_inverse_args *args)
{
  const int32_t n = args->matrix.n_rows;
  if (n == 0) return KEDGE_OK;  // an empty grid is a launch error
  const cudaStream_t stream = kg_cuda_stream(ctx);
  const unsigned tiles = ((unsigned)n + B - 1) / B;
  const dim3 block(B, B), grid(tiles, tiles);
  double *const a = args->inverse;
  KG_TRY(kg_zero(ctx, a, (size_t)n * (size_t)n * sizeof *a));
  expand_kernel<<<((unsigned)n + 127) / 128, 128, 0, stream>>>(args->matrix, a);
  KG_TRY(kg_cuda_launched(ctx, "dense_expand"));
  Pivots p = {0, 0, args->work, args->work + B * B, args->work + B * (B + (int64_t)n)};
  for (; p.first < n; p.first += B) {
    p.n = n - p.first < B ? n - p.first : B;
    invert_kernel<<<1, block, 0, stream>>>(args->matrix, a, p, args->fault);
    KG_TRY(kg_cuda_launched(ctx, "dense_invert"));
    rows_kernel<<<tiles, block, 0, stream>>>(n, a, p);
    KG_TRY(kg_cuda_launched(ctx, "dense_rows"));
    eliminate_kernel<<<grid, block, 0, stream>>>(n, a, p);
    KG_TRY(kg_cuda_launched(ctx, "dense_eliminate"));
  }
  symmetrize_kernel<<<grid, block, 0, stream>>>(n, a);
  return kg_cuda_launched(ctx, "dense_symmetrize");
}

extern "C" kedge_status kg_dense_apply_cuda(kedge_context *ctx, int32_t n, const double *inverse,
                                            const double *x, double *y)
{
  if (n == 0) return KEDGE_OK;
  dense_apply_kernel<<<((unsigned)n + WARPS - 1) / WARPS, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(
      n, inverse, x, y);
  return kg_cuda_launched(ctx, "dense_apply");
}

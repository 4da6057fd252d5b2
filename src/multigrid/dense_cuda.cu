// dense_cuda.cu: the inverse of a matrix of at most a thousand or so rows, and products with it.
// Map     inverse: a kernel a pivot, thread = entry, from one array to the other, which both stay in
//         the second cache. Product: a warp a row.
// Cost    inverse: n launches of some microseconds; product: 8 n^2 bytes.
#include "backend/cuda_rt.h"
#include "multigrid/dense.h"

namespace
{
enum { WIDTH = 32, HEIGHT = 8, WARPS = 4 };

/// Thread = row.
__global__ void expand_kernel(const kg_csr matrix, double *a)
{
  const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= matrix.n_rows) return;
  for (int32_t e = matrix.row[i]; e < matrix.row[i + 1]; ++e)
    a[(int64_t)i * matrix.n_rows + matrix.column[e]] = matrix.value[e];
}

/// Exchange unknown k and equation k.
__global__ void __launch_bounds__(WIDTH *HEIGHT)
    pivot_kernel(const kg_csr matrix, int32_t k, const double *from, double *to, int32_t *fault)
{
  const int32_t n = matrix.n_rows, j = (int32_t)(blockIdx.x * WIDTH + threadIdx.x);
  const int32_t i = (int32_t)(blockIdx.y * HEIGHT + threadIdx.y);
  if (i >= n || j >= n) return;
  const int64_t row = (int64_t)i * n, pivot_row = (int64_t)k * n;
  const double pivot = from[pivot_row + k], factor = from[row + k] / pivot;
  if (i == k && j == k && !kg_dense_is_positive(&matrix, k, pivot)) *fault = 1;
  double value;
  if (i == k)
    value = j == k ? 1.0 / pivot : from[pivot_row + j] / pivot;
  else
    value = j == k ? -factor : from[row + j] - factor * from[pivot_row + j];
  to[row + j] = value;
}

__global__ void __launch_bounds__(WIDTH *HEIGHT)
    symmetrize_kernel(int32_t n, const double *a, double *inverse)
{
  const int32_t j = (int32_t)(blockIdx.x * WIDTH + threadIdx.x);
  const int32_t i = (int32_t)(blockIdx.y * HEIGHT + threadIdx.y);
  if (i < n && j < n)
    inverse[(int64_t)i * n + j] = 0.5 * (a[(int64_t)i * n + j] + a[(int64_t)j * n + i]);
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

/// The last pivot's array must not be `inverse`, which is made symmetric from it.
extern "C" kedge_status kg_dense_inverse_cuda(kedge_context *ctx, const kg_dense_inverse_args *a)
{
  const int32_t n = a->matrix.n_rows;
  if (n == 0) return KEDGE_OK;  // an empty grid is a launch error
  const cudaStream_t stream = kg_cuda_stream(ctx);
  const dim3 block(WIDTH, HEIGHT);
  const dim3 grid(((unsigned)n + WIDTH - 1) / WIDTH, ((unsigned)n + HEIGHT - 1) / HEIGHT);
  double *from = n % 2 == 0 ? a->work : a->inverse, *to = n % 2 == 0 ? a->inverse : a->work;
  KG_TRY(kg_zero(ctx, from, (size_t)n * (size_t)n * sizeof *from));
  expand_kernel<<<((unsigned)n + 127) / 128, 128, 0, stream>>>(a->matrix, from);
  KG_TRY(kg_cuda_launched(ctx, "dense_expand"));
  for (int32_t k = 0; k < n; ++k) {
    pivot_kernel<<<grid, block, 0, stream>>>(a->matrix, k, from, to, a->fault);
    KG_TRY(kg_cuda_launched(ctx, "dense_pivot"));
    double *const next = from;
    from = to;
    to = next;
  }
  symmetrize_kernel<<<grid, block, 0, stream>>>(n, from, to);
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

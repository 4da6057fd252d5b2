// vertex_matrix_cuda.cu: P^T A P, rows compressed (vertex_matrix.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][6][lane]
// Map     thread = element: 21 of its entries, each a whole line for a warp; then thread = row. The
//         rows of neighbouring vertices read elements near each other.
// Cost    kg_vertex_matrix_cost(), once a solve
#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_scan.cuh>

#include "backend/cuda_each.cuh"
#include "ops/vertex_matrix.h"

namespace
{
constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK) vertex_element_kernel(const kg_vertex_matrix_args a)
{
  const int64_t e = kg_thread_number();
  if (e < a.batch.count.n_elements) kg_vertex_element(&a, (int32_t)e);
}

/// The last thread counts nothing, so that the scan ends with the sum.
__global__ void __launch_bounds__(BLOCK)
    row_length_kernel(const kg_vertex_space space, int32_t *length)
{
  const int64_t row = kg_thread_number();
  if (row > space.n_rows) return;
  length[row] = row < space.n_rows ? kg_vertex_row_length(&space, (int32_t)row) : 0;
}

__global__ void __launch_bounds__(BLOCK) vertex_row_kernel(const kg_vertex_matrix_args a)
{
  const int64_t row = kg_thread_number();
  if (row < a.space.n_rows) kg_vertex_row(&a, (int32_t)row);
}

cudaError_t scan(void *scratch, size_t &bytes, const int32_t *length, int32_t *row, int32_t n,
                 cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, length, row, n, stream);
}
}  // namespace

/// Lengths of the rows, then CUB's scratch.
extern "C" kedge_status kg_vertex_matrix_work_bytes_cuda(kedge_context *ctx, int32_t n_vertices,
                                                         size_t *bytes)
{
  size_t scanning = 0;
  KG_TRY(kg_cuda_check(ctx, scan(nullptr, scanning, nullptr, nullptr, n_vertices + 1, nullptr),
                       "sizing the scan of the rows"));
  *bytes = kg_rounded(((size_t)n_vertices + 1) * sizeof(int32_t)) + kg_rounded(scanning);
  return KEDGE_OK;
}

extern "C" kedge_status kg_vertex_matrix_fill_cuda(kedge_context *ctx,
                                                   const kg_vertex_matrix_args *a)
{
  const int32_t n_rows = a->space.n_rows;
  const size_t lengths = kg_rounded(((size_t)n_rows + 1) * sizeof(int32_t));
  int32_t *const length = (int32_t *)a->work;
  size_t bytes = a->work_bytes - lengths;
  KG_TRY(kg_launch_each<BLOCK>(ctx, "matrices of the elements for their vertices",
                               a->batch.count.n_elements, vertex_element_kernel, *a));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "lengths of the rows of the vertices", (int64_t)n_rows + 1,
                               row_length_kernel, a->space, length));
  KG_TRY(kg_cuda_check(
      ctx, scan((char *)a->work + lengths, bytes, length, a->row, n_rows + 1, kg_cuda_stream(ctx)),
      "placing the rows of the vertices"));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "rows of the vertices", n_rows, vertex_row_kernel, *a));
  KG_TRY(kg_copy_out(ctx, a->n_entries, a->row + n_rows, sizeof *a->n_entries));
  return kg_sync(ctx);
}

// formats_convert.cu: the other forms of the trace operator, made on the device from the ELL matrix
// or the packed K^e. Run once before a product is timed, so plain: a thread writes a row of the
// matrix.
#include <climits>

#include "device/cuda_rt.h"
#include "formats.h"
#include "ops/assembled/ell_block.h"

namespace
{

constexpr int BLOCK = 256;

unsigned blocks_for(int64_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

__device__ __forceinline__ int64_t thread_number()
{
  return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}

/// The blocks of an edge's row, by rising edge, missing ones last.
struct Blocks {
  int32_t edge[KG_ELL_BLOCKS];  ///< INT_MAX: missing
  int place[KG_ELL_BLOCKS];     ///< its place in the ELL row
};

__device__ Blocks sorted_blocks(const kg_ell_matrix &ell, int m, int64_t edge)
{
  Blocks b;
  for (int q = 0; q < KG_ELL_BLOCKS; ++q) {
    const int32_t column = ell.column[(int64_t)q * m * ell.stride + edge * m];
    const int32_t key = column < 0 ? INT_MAX : column / m;
    int at = q;
    for (; at > 0 && b.edge[at - 1] > key; --at) {
      b.edge[at] = b.edge[at - 1];
      b.place[at] = b.place[at - 1];
    }
    b.edge[at] = key;
    b.place[at] = q;
  }
  return b;
}

/// Entry j of a block of the row.
__device__ __forceinline__ double entry_of(const kg_ell_matrix &ell, int m, int place, int j,
                                           int64_t row)
{
  return ell.value[((int64_t)place * m + j) * ell.stride + row];
}

__global__ void __launch_bounds__(BLOCK)
    csr_kernel(const kg_ell_matrix ell, const kg_trace_counts count, int m, int32_t *offset,
               int32_t *column, double *value)
{
  const int64_t row = thread_number();
  if (row > ell.rows) return;
  const int64_t edge = row / m, i = row % m;
  const int64_t first = format_block_offset(&count, edge);
  const int64_t length = format_block_offset(&count, edge + 1) - first;
  int64_t at = first * m * m + i * length * m;
  offset[row] = (int32_t)at;
  if (row == ell.rows) return;
  const Blocks b = sorted_blocks(ell, m, edge);
  for (int q = 0; q < length; ++q)
    for (int j = 0; j < m; ++j, ++at) {
      column[at] = b.edge[q] * m + j;
      value[at] = entry_of(ell, m, b.place[q], j, row);
    }
}

__global__ void __launch_bounds__(BLOCK)
    bsr_kernel(const kg_ell_matrix ell, const kg_trace_counts count, int m, bool by_column,
               int32_t *offset, int32_t *column, double *value)
{
  const int64_t row = thread_number();
  if (row > ell.rows) return;
  const int64_t edge = row / m, i = row % m;
  const int64_t first = format_block_offset(&count, edge);
  if (i == 0) offset[edge] = (int32_t)first;
  if (row == ell.rows) return;
  const int64_t length = format_block_offset(&count, edge + 1) - first;
  const Blocks b = sorted_blocks(ell, m, edge);
  for (int q = 0; q < length; ++q) {
    if (i == 0) column[first + q] = b.edge[q];
    double *block = value + (first + q) * m * m;
    for (int j = 0; j < m; ++j)
      block[by_column ? j * m + i : i * m + j] = entry_of(ell, m, b.place[q], j, row);
  }
}

/// Thread = row, and the padding rows of the last slice. Columns rise within a row when they are
/// wanted; otherwise blocks keep the places of the ELL matrix.
__global__ void __launch_bounds__(BLOCK)
    sliced_kernel(const kg_ell_matrix ell, int m, int32_t *offset, int32_t *column, double *value)
{
  const int64_t row = thread_number();
  if (row >= ell.stride) return;
  const int64_t slice = row / FORMAT_SLICE, size = (int64_t)ell.width * FORMAT_SLICE;
  if (offset != nullptr && row % FORMAT_SLICE == 0) {
    offset[slice] = (int32_t)(slice * size);
    offset[slice + 1] = (int32_t)((slice + 1) * size);
  }
  const bool exists = row < ell.rows;
  Blocks b = {};
  if (exists && column != nullptr) b = sorted_blocks(ell, m, row / m);
  int64_t at = slice * size + row % FORMAT_SLICE;
  for (int q = 0; q < KG_ELL_BLOCKS; ++q)
    for (int j = 0; j < m; ++j, at += FORMAT_SLICE) {
      const int place = column != nullptr ? b.place[q] : q;
      value[at] = exists ? entry_of(ell, m, place, j, row) : 0.0;
      if (column == nullptr) continue;
      column[at] = exists && b.edge[q] != INT_MAX ? b.edge[q] * m + j : -1;
    }
}

__global__ void __launch_bounds__(BLOCK)
    block_columns_kernel(const kg_ell_matrix ell, int m, int64_t edges, int32_t *column)
{
  const int64_t i = thread_number();
  if (i >= KG_ELL_BLOCKS * edges) return;
  const int64_t q = i / edges, edge = i % edges;
  const int32_t first = ell.column[q * m * ell.stride + edge * m];
  column[i] = first < 0 ? 0 : first / m;
}

}  // namespace

extern "C" kedge_status format_convert_csr(kedge_context *ctx, const format_source *s,
                                           int32_t *offset, int32_t *column, double *value)
{
  csr_kernel<<<blocks_for(s->ell.rows + 1), BLOCK, 0, kg_cuda_stream(ctx)>>>(
      s->ell, s->batch.count, s->batch.m, offset, column, value);
  return kg_cuda_launched(ctx, "converting to CSR");
}

extern "C" kedge_status format_convert_bsr(kedge_context *ctx, const format_source *s,
                                           bool by_column, int32_t *offset, int32_t *column,
                                           double *value)
{
  bsr_kernel<<<blocks_for(s->ell.rows + 1), BLOCK, 0, kg_cuda_stream(ctx)>>>(
      s->ell, s->batch.count, s->batch.m, by_column, offset, column, value);
  return kg_cuda_launched(ctx, "converting to BSR");
}

extern "C" kedge_status format_convert_sliced(kedge_context *ctx, const format_source *s,
                                              int32_t *offset, int32_t *column, double *value)
{
  sliced_kernel<<<blocks_for(s->ell.stride), BLOCK, 0, kg_cuda_stream(ctx)>>>(
      s->ell, s->batch.m, offset, column, value);
  return kg_cuda_launched(ctx, "converting to sliced ELL");
}

extern "C" kedge_status format_convert_block_columns(kedge_context *ctx, const format_source *s,
                                                     int32_t *column)
{
  const int64_t edges = s->batch.count.n_free;
  block_columns_kernel<<<blocks_for(KG_ELL_BLOCKS * edges), BLOCK, 0, kg_cuda_stream(ctx)>>>(
      s->ell, s->batch.m, edges, column);
  return kg_cuda_launched(ctx, "collecting the columns of blocks");
}

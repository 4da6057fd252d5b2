// csr_transpose_cuda.cu: a stable radix sort of the rows of all entries by their columns; rows
// begin where bisection finds their first entry.
#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_radix_sort.cuh>

#include "device/cuda_each.cuh"
#include "precondition/amg/csr_transpose.h"

namespace
{
enum { BLOCK = 256 };

/// Thread = row.
__global__ void __launch_bounds__(BLOCK) list_rows_kernel(const kg_csr a, int32_t *row_of)
{
  const int64_t i = kg_thread_number();
  if (i >= a.n_rows) return;
  for (int32_t e = a.row[i]; e < a.row[i + 1]; ++e) row_of[e] = (int32_t)i;
}

/// Thread = row of the transpose, and one beyond.
__global__ void __launch_bounds__(BLOCK)
    find_rows_kernel(const int32_t *column, int32_t n_entries, int32_t n_columns, int32_t *row)
{
  const int64_t j = kg_thread_number();
  if (j > n_columns) return;
  int32_t begin = 0, end = n_entries;
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;
    if (column[middle] < j)
      begin = middle + 1;
    else
      end = middle;
  }
  row[j] = begin;
}

/// Thread = entry of the transpose.
__global__ void __launch_bounds__(BLOCK)
    gather_kernel(const kg_csr a, const int32_t *column, const kg_csr place)
{
  const int64_t e = kg_thread_number();
  if (e >= a.n_entries) return;
  place.part[e] = a.part[kg_csr_find(&a, place.column[e], column[e])];
}

int bits_of(int32_t n)
{
  int bits = 1;
  while (bits < 31 && n >> bits) ++bits;
  return bits;
}

/// Sorts the entries by columns; without scratch, says how many bytes of scratch that takes.
cudaError_t sort(void *scratch, size_t *bytes, const kg_csr *a, int32_t n_columns,
                 int32_t *sorted_column, const int32_t *row_of, int32_t *sorted_row,
                 cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(scratch, *bytes, a->column, sorted_column, row_of,
                                         sorted_row, a->n_entries, 0, bits_of(n_columns), stream);
}
}  // namespace

extern "C" kedge_status kg_csr_transpose_cuda(kedge_context *ctx, const kg_csr *a,
                                              int32_t n_columns, kg_arena *work, kg_csr place)
{
  const cudaStream_t stream = kg_cuda_stream(ctx);
  const size_t n = (size_t)a->n_entries;
  if (n == 0) return kg_zero(ctx, place.row, ((size_t)n_columns + 1) * sizeof *place.row);
  size_t bytes = 0;
  int32_t *row_of, *column;
  void *scratch;
  KG_TRY(kg_cuda_check(ctx, sort(nullptr, &bytes, a, n_columns, nullptr, nullptr, nullptr, nullptr),
                       "sizing the sort of entries"));
  KG_TRY(kg_arena_take(ctx, work, n, sizeof *row_of, &row_of));
  KG_TRY(kg_arena_take(ctx, work, n, sizeof *column, &column));
  KG_TRY(kg_arena_take(ctx, work, bytes, 1, &scratch));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "listing the rows of entries", a->n_rows, list_rows_kernel, *a,
                               row_of));
  KG_TRY(kg_cuda_check(ctx,
                       sort(scratch, &bytes, a, n_columns, column, row_of, place.column, stream),
                       "sorting entries by columns"));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "finding the rows of a transpose", (int64_t)n_columns + 1,
                               find_rows_kernel, column, a->n_entries, n_columns, place.row));
  return kg_launch_each<BLOCK>(ctx, "gathering a transpose", a->n_entries, gather_kernel, *a,
                               column, place);
}

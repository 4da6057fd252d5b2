// csr_make_cuda.cu: sparse matrices made row by row. Thread = row: rows are short, and a row's list
// stays in the first cache while its terms are looked up in it.
#include "backend/cuda_rt.h"
#include "multigrid/csr_make.h"

namespace
{
enum { BLOCK = 128 };

unsigned blocks(int64_t n)
{
  return (unsigned)((n + BLOCK - 1) / BLOCK);
}

__device__ __forceinline__ int32_t thread_number()
{
  return (int32_t)(blockIdx.x * BLOCK + threadIdx.x);
}

__global__ void __launch_bounds__(BLOCK) terms_kernel(const kg_csr_make_args a, int32_t *length)
{
  const int32_t i = thread_number();
  if (i < a.a.n_rows) length[i] = kg_csr_terms(&a, i);
}

__global__ void __launch_bounds__(BLOCK)
    count_kernel(const kg_csr_make_args a, const int64_t *begin, int32_t *scratch, int32_t *length)
{
  const int32_t i = thread_number();
  if (i >= a.a.n_rows) return;
  kg_csr_list list = {0, scratch + begin[i], nullptr};
  kg_csr_add_row(&a, i, &list);
  length[i] = list.n;
}

__global__ void __launch_bounds__(BLOCK)
    fill_kernel(const kg_csr_make_args a, const int64_t *begin, const kg_csr_place place)
{
  const int32_t i = thread_number();
  if (i > a.a.n_rows) return;
  place.row[i] = (int32_t)begin[i];
  if (i == a.a.n_rows) return;
  kg_csr_list list = {0, place.column + begin[i], place.value + begin[i]};
  kg_csr_add_row(&a, i, &list);
}
}  // namespace

extern "C" kedge_status kg_csr_terms_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                                          int32_t *length)
{
  if (args->a.n_rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  terms_kernel<<<blocks(args->a.n_rows), BLOCK, 0, kg_cuda_stream(ctx)>>>(*args, length);
  return kg_cuda_launched(ctx, "csr_terms");
}

extern "C" kedge_status kg_csr_count_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                                          const int64_t *begin, int32_t *scratch, int32_t *length)
{
  if (args->a.n_rows == 0) return KEDGE_OK;
  count_kernel<<<blocks(args->a.n_rows), BLOCK, 0, kg_cuda_stream(ctx)>>>(*args, begin, scratch,
                                                                          length);
  return kg_cuda_launched(ctx, "csr_count");
}

extern "C" kedge_status kg_csr_fill_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                                         const int64_t *begin, kg_csr_place place)
{
  fill_kernel<<<blocks((int64_t)args->a.n_rows + 1), BLOCK, 0, kg_cuda_stream(ctx)>>>(*args, begin,
                                                                                      place);
  return kg_cuda_launched(ctx, "csr_fill");
}

// assembly_cuda.cu: by elements on a GPU. Thread = entry of K^e of an element; the elements of a
// warp are neighbours, so that K^e is read by whole lines; rows are those of their edges.
#include "assembly.h"
#include "device/cuda_each.cuh"
#include "ops/local/entry.h"

namespace
{
constexpr int BLOCK = 256;

__global__ void __launch_bounds__(BLOCK) add_entries_kernel(const kg_ell_assemble_args a, int m)
{
  const int64_t t = kg_thread_number();
  const int n = 3 * m, lane = (int)(t % KG_LANES), entry = (int)(t / KG_LANES % (n * n));
  const int32_t e = (int32_t)(t / KG_LANES / (n * n)) * KG_LANES + lane;
  if (e >= a.batch.count.n_elements) return;
  const int row = entry / n, col = entry % n;
  const int64_t at = assembly_place(&a.batch.arrays, &a.matrix, m, e, row, col);
  if (at < 0) return;
  const kg_local_element element = kg_local_element_of(&a.locals, m, e);
  a.matrix.column[at] = assembly_column(&a.batch.arrays, m, e, col);
  atomicAdd(a.matrix.value + at, kg_local_entry(&element, row / m, row % m, col / m, col % m));
}
}  // namespace

extern "C" kedge_status assembly_by_elements_cuda(kedge_context *ctx,
                                                  const kg_ell_assemble_args *args)
{
  const kg_ell_matrix &matrix = args->matrix;
  const int m = args->batch.m;
  const size_t entries = (size_t)matrix.stride * matrix.width;
  const int64_t groups = (args->batch.count.n_elements + KG_LANES - 1) / KG_LANES;
  KG_TRY(kg_cuda_check(
      ctx, cudaMemsetAsync(matrix.value, 0, entries * sizeof *matrix.value, kg_cuda_stream(ctx)),
      "clearing the values"));
  KG_TRY(kg_cuda_check(
      ctx,
      cudaMemsetAsync(matrix.column, 0xff, entries * sizeof *matrix.column, kg_cuda_stream(ctx)),
      "clearing the columns"));
  return kg_launch_each<BLOCK>(ctx, "adding local matrices", groups * KG_LANES * 9 * m * m,
                               add_entries_kernel, *args, m);
}

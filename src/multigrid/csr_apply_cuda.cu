// csr_apply_cuda.cu: products of sparse matrices with vectors.
// Layout  rows compressed; entries of neighbouring rows lie behind each other.
// Map     block = ROWS consecutive rows. All its threads take the entries of these rows in their
//         order, a tile at a time, and leave the terms in shared memory; then thread = row adds its
//         terms. So loads are whole lines however long rows are. One writer a row: repeatable bits.
// Cost    12 bytes an entry, and vectors; 2 flops an entry: bound by memory.
#include "backend/cuda_rt.h"
#include "multigrid/csr_apply.h"

namespace
{

enum { ROWS = 128, EACH = 8, TILE = ROWS * EACH };  // a tile: 8 entries a row

__global__ void __launch_bounds__(ROWS) csr_start_kernel(const kg_csr_apply_args a)
{
  const int64_t i = (int64_t)blockIdx.x * ROWS + threadIdx.x;
  if (i < a.matrix.n_rows) a.y[i] = a.weight * a.inverse[i] * a.b[i];
}

template <kg_csr_rule RULE>
__global__ void __launch_bounds__(ROWS) csr_apply_kernel(const kg_csr_apply_args a)
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
      if (at < last - tile)
        s_term[at] =
            __ldcs(a.matrix.value + tile + at) * __ldg(a.x + __ldcs(a.matrix.column + tile + at));
    }
    __syncthreads();
    const int32_t from = max(begin - tile, 0), to = min(end - tile, (int32_t)TILE);
    for (int32_t at = from; at < to; ++at) sum += s_term[at];
  }
  if (i < n_rows) kg_csr_finish(&a, RULE, i, sum);
}

using kernel = void (*)(kg_csr_apply_args);

kedge_status launch(kedge_context *ctx, const kg_csr_apply_args *a, kernel apply, const char *name)
{
  if (a->matrix.n_rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  const unsigned grid = ((unsigned)a->matrix.n_rows + ROWS - 1) / ROWS;
  apply<<<grid, ROWS, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, name);
}

}  // namespace

extern "C" kedge_status kg_csr_start_cuda(kedge_context *ctx, const kg_csr_apply_args *a)
{
  return launch(ctx, a, csr_start_kernel, "csr_start");
}

extern "C" kedge_status kg_csr_apply_cuda(kedge_context *ctx, const kg_csr_apply_args *a,
                                          kg_csr_rule rule)
{
  static const kernel by_rule[] = {csr_apply_kernel<KG_CSR_STEP>, csr_apply_kernel<KG_CSR_RESIDUAL>,
                                   csr_apply_kernel<KG_CSR_RESTRICT>,
                                   csr_apply_kernel<KG_CSR_PROLONG>,
                                   csr_apply_kernel<KG_CSR_SCALED>};
  return launch(ctx, a, by_rule[rule], "csr_apply");
}

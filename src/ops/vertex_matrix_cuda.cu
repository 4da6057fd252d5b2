// vertex_matrix_cuda.cu: P^T A P, rows compressed (vertex_matrix.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][6][lane]
// Map     thread = element: 21 of its entries, each a whole line for a warp; then thread = row. The
//         rows of neighbouring vertices read elements near each other.
// Cost    kg_vertex_matrix_cost(), once a solve
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

__global__ void __launch_bounds__(BLOCK) vertex_row_kernel(const kg_vertex_matrix_args a)
{
  const int64_t row = kg_thread_number();
  if (row < a.space.n_rows) kg_vertex_row(&a, (int32_t)row);
}
}  // namespace

extern "C" kedge_status kg_vertex_matrix_fill_cuda(kedge_context *ctx,
                                                   const kg_vertex_matrix_args *a)
{
  KG_TRY(kg_launch_each<BLOCK>(ctx, "matrices of the elements for their vertices",
                               a->batch.count.n_elements, vertex_element_kernel, *a));
  return kg_launch_each<BLOCK>(ctx, "rows of the vertices", a->space.n_rows, vertex_row_kernel, *a);
}

// vertex_matrix_cuda.cu: P^T A P, rows compressed (vertex_matrix.h).
// Layout  local [group][n (n+1) / 2][lane], element [group][6 or 10][lane]
// Map     thread = element: 21 of its entries, each a whole line for a warp; then thread = row. The
//         rows of neighbouring vertices read elements near each other. Of tetrahedra likewise: 78
//         entries, three numbers of each mode of a facet.
// Cost    kg_vertex_matrix_cost(), once a solve
#include "device/cuda_each.cuh"
#include "ops/smooth/corner_matrix.h"

enum { BLOCK = 256 };

extern "C" kedge_status kg_vertex_matrix_fill_cuda(kedge_context *ctx,
                                                   const kg_vertex_matrix_args *a)
{
  if (kg_lanes_in_space(&a->batch.count.lanes)) {
    KG_TRY((kg_do_each<BLOCK, kg_corner_element>(ctx, "matrices of tetrahedra for their vertices",
                                                 a->batch.count.n_groups * KG_LANES, *a)));
    return kg_do_each<BLOCK, kg_corner_row>(ctx, "rows of the vertices of tetrahedra",
                                            a->space.n_rows, *a);
  }
  KG_TRY((kg_do_each<BLOCK, kg_vertex_element>(ctx, "matrices of the elements for their vertices",
                                               a->batch.count.n_groups * KG_LANES, *a)));
  return kg_do_each<BLOCK, kg_vertex_row>(ctx, "rows of the vertices", a->space.n_rows, *a);
}

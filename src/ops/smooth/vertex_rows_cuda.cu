// vertex_rows_cuda.cu: rows of A P (vertex_rows.h).
// Layout  local [group][n (n+1) / 2][lane], rows [edge group][mode][4 to 6][lane]
// Map     thread = free edge. Edges are numbered along the elements: a warp reads entries of K^e of
//         elements near each other, and writes whole lines.
// Cost    kg_vertex_rows_cost(), once a solve
#include "device/cuda_each.cuh"
#include "ops/smooth/corner_rows.h"

enum { BLOCK = 128 };

extern "C" kedge_status kg_vertex_rows_fill_cuda(kedge_context *ctx, const kg_vertex_rows_args *a)
{
  if (kg_lanes_in_space(&a->batch.count.lanes))
    return kg_do_each<BLOCK, kg_corner_rows_of>(ctx, "rows of A P of tetrahedra",
                                                a->batch.count.n_free, *a);
  return kg_do_each<BLOCK, kg_vertex_rows_of>(ctx, "rows of A P", a->batch.count.n_free, *a);
}

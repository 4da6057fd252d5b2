// edge_sum_cuda.cu: y_f = sum of the rows of the sides of f. Thread = (edge, mode), mode fastest:
// writes are coalesced; reads are one word a side, near each other because edges are numbered along
// the elements.
#include "backend/cuda_each.cuh"
#include "ops/edge_sum.h"

namespace
{

enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK) edge_sum_kernel(const kg_edge_sum_args a)
{
  const int m = a.batch.reference.size.n_edge;
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.batch.count.n_free * m) return;
  const int k = (int)(i % m);
  const uint2 sides = ((const uint2 *)a.batch.arrays.edge_sides)[i / m];
  double sum = kg_edge_sum_value(&a, sides.x, k);
  if (sides.y != KG_NO_SIDE) sum += kg_edge_sum_value(&a, sides.y, k);
  a.y[i] = kg_edge_sum_result(&a, sum);
}

}  // namespace

extern "C" kedge_status kg_edge_sum_cuda(kedge_context *ctx, const kg_edge_sum_args *a)
{
  const int64_t rows = (int64_t)a->batch.count.n_free * a->batch.reference.size.n_edge;
  return kg_launch_each<BLOCK>(ctx, "edge_sum", rows, edge_sum_kernel, *a);
}

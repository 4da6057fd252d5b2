// edge_sum_cuda.cu: y_f = sum of the rows of the sides of f. Thread = (edge, mode), mode fastest:
// writes are coalesced; reads are one word a side, near each other because edges are numbered along
// the elements.
#include "backend/cuda_rt.h"
#include "ops/edge_sum.h"

namespace
{

__global__ void edge_sum_kernel(const kg_edge_sum_args a)
{
  const int m = a.batch.reference.size.n_edge;
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (int64_t)a.batch.count.n_free * m) return;
  const int k = (int)(i % m);
  const int2 sides = ((const int2 *)a.batch.arrays.edge_sides)[i / m];
  double sum = kg_edge_sum_value(&a, sides.x, k);
  if (sides.y >= 0) sum += kg_edge_sum_value(&a, sides.y, k);
  a.y[i] = kg_edge_sum_result(&a, sum);
}

}  // namespace

extern "C" kedge_status kg_edge_sum_cuda(kedge_context *ctx, const kg_edge_sum_args *a)
{
  const int64_t rows = (int64_t)a->batch.count.n_free * a->batch.reference.size.n_edge;
  if (rows == 0) return KEDGE_OK;  // an empty grid is a launch error
  edge_sum_kernel<<<(unsigned)((rows + 255) / 256), 256, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "edge_sum");
}

// facet_sum_cuda.cu: b and the inverse diagonal of A, edge by edge. Thread = (edge, mode), mode
// fastest: writes are coalesced; reads are one word a side (with reduced K^e a few), near each
// other because edges are numbered along the elements.
#include "device/cuda_each.cuh"
#include "ops/trace/facet_sum.h"

namespace
{

enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK) loads_kernel(const kg_facet_loads_args a)
{
  const int m = a.batch.reference.size.n_edge;
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.batch.count.n_free * m) return;
  const uint2 both = ((const uint2 *)a.batch.arrays.edge_sides)[i / m];
  const kg_side sides[] = {both.x, both.y};
  a.b[i] = kg_facet_loads_row(&a, sides, (int)(i % m));
}

__global__ void __launch_bounds__(BLOCK) diagonal_kernel(const kg_facet_diagonal_args a)
{
  const int m = a.batch.reference.size.n_edge;
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.batch.count.n_free * m) return;
  const uint2 both = ((const uint2 *)a.batch.arrays.edge_sides)[i / m];
  const kg_side sides[] = {both.x, both.y};
  a.inverse[i] = kg_facet_diagonal_row(&a, sides, (int)(i % m));
}

}  // namespace

extern "C" kedge_status kg_facet_loads_cuda(kedge_context *ctx, const kg_facet_loads_args *a)
{
  const int64_t rows = (int64_t)a->batch.count.n_free * a->batch.reference.size.n_edge;
  return kg_launch_each<BLOCK>(ctx, "facet_loads", rows, loads_kernel, *a);
}

extern "C" kedge_status kg_facet_diagonal_cuda(kedge_context *ctx, const kg_facet_diagonal_args *a)
{
  const int64_t rows = (int64_t)a->batch.count.n_free * a->batch.reference.size.n_edge;
  return kg_launch_each<BLOCK>(ctx, "facet_diagonal", rows, diagonal_kernel, *a);
}

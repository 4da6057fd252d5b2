// facet_sum_cuda.cu: b and the inverse diagonal of A, edge by edge. Thread = (edge, mode), mode
// fastest: writes are coalesced; reads are one word a side (with reduced K^e a few), near each
// other because edges are numbered along the elements.
#include "device/cuda_each.cuh"
#include "ops/trace/facet_sum.h"

namespace
{

enum { BLOCK = 256 };

template <auto ROW, typename Arguments>
__global__ void __launch_bounds__(BLOCK) facet_kernel(const Arguments a, double *out)
{
  const int m = a.batch.m;
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.batch.count.n_free * m) return;
  const uint2 both = ((const uint2 *)a.batch.arrays.edge_sides)[i / m];
  const kg_side sides[] = {both.x, both.y};
  out[i] = ROW(&a, sides, (int)(i % m));
}

template <auto ROW, typename Arguments>
kedge_status launch(kedge_context *ctx, const char *name, const Arguments &a, double *out)
{
  const int64_t rows = (int64_t)a.batch.count.n_free * a.batch.m;
  return kg_launch_each<BLOCK>(ctx, name, rows, facet_kernel<ROW, Arguments>, a, out);
}

}  // namespace

extern "C" kedge_status kg_facet_loads_cuda(kedge_context *ctx, const kg_facet_loads_args *a)
{
  return launch<kg_facet_loads_row>(ctx, "facet_loads", *a, a->b);
}

extern "C" kedge_status kg_facet_diagonal_cuda(kedge_context *ctx, const kg_facet_diagonal_args *a)
{
  return launch<kg_facet_diagonal_row>(ctx, "facet_diagonal", *a, a->inverse);
}

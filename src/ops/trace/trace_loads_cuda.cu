// trace_loads_cuda.cu: y -= sum_e A_e^T F^e on the rows of some patches.
// Layout  condensed [group][n][lane]: a warp reads whole lines.
// Map     block = patch. Threads = elements put F^e into shared memory, a place a side as in
//         trace_apply_cuda.cu; then thread = (edge, mode) takes those of its edge: one writer a
//         word.
// Cost    kg_trace_loads_cost()
#include "device/cuda_launch.cuh"
#include "ops/trace/trace_loads.h"

namespace
{

__global__ void trace_loads_kernel(const kg_trace_loads_args a)
{
  KG_SHARED(double, s_sides);  // [place][mode]
  const kg_batch &batch = a.product.batch;
  const int facets = batch.arrays.lanes.run[0].n_facets, m = batch.m, n = facets * m;
  const int threads = blockDim.x, thread = threadIdx.x, patch = blockIdx.x;
  const int edge0 = batch.arrays.patch_edge[patch], halo0 = batch.arrays.patch_halo[patch];
  const int n_inside = batch.arrays.patch_edge[patch + 1] - edge0;
  const int n_edges = n_inside + batch.arrays.patch_halo[patch + 1] - halo0;

  const int64_t element = (int64_t)patch * threads + thread;
  if (element < batch.count.n_elements) {
    const double *load = a.condensed + element / KG_LANES * n * KG_LANES + element % KG_LANES;
    for (int i = 0; i < n; ++i) {
      const int code = kg_side_code_at(batch.arrays.side_codes, facets, (int32_t)element, i / m);
      s_sides[kg_code_place(code, n_inside) * m + i % m] = load[i * KG_LANES];
    }
  }
  __syncthreads();
  for (int i = thread; i < n_edges * m; i += threads) {
    const double *sides = s_sides + kg_code_place(i / m * 2, n_inside) * m + i % m;
    if (i < n_inside * m) {
      ((double *)a.product.y)[(int64_t)edge0 * m + i] -= sides[0] + sides[m];
    } else {
      const uint32_t edge = batch.arrays.halo_edge[halo0 + i / m - n_inside];
      auto *row = (double *)kg_halo_row(&a.product, edge, m * (int64_t)sizeof(double));
      if (row) row[i % m] -= sides[0];
    }
  }
}

}  // namespace

extern "C" kedge_status kg_trace_loads_cuda(kedge_context *ctx, const kg_trace_loads_args *a)
{
  const kg_batch &batch = a->product.batch;
  const unsigned threads = (unsigned)(KG_LANES * batch.count.patch_groups);
  const size_t shared = sizeof(double) * batch.arrays.lanes.run[0].n_facets * threads * batch.m;
  return kg_launch(ctx, "trace_loads", (unsigned)batch.count.n_patches, threads, shared,
                   trace_loads_kernel, *a);
}

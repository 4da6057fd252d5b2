#include "ops/trace/trace_loads.h"

#include <omp.h>

#include "device/loop.h"

/// F^e of the sides of a patch, each at the place that its code says.
static void place_sides(const kg_trace_loads_args *a, int32_t patch, double *sides)
{
  const kg_batch *batch = &a->product.batch;
  const int facets = batch->arrays.lanes.run[0].n_facets, m = batch->m, n = facets * m;
  const int32_t lanes = batch->count.patch_groups * KG_LANES, first = patch * lanes;
  for (int32_t e = first; e < first + lanes && e < batch->count.n_elements; ++e) {
    const double *load = a->condensed + (int64_t)(e / KG_LANES) * n * KG_LANES + e % KG_LANES;
    for (int l = 0; l < facets; ++l) {
      double *side = sides + kg_side_code_at(batch->arrays.side_codes, facets, e, l) * m;
      for (int k = 0; k < m; ++k) side[k] = load[(l * m + k) * KG_LANES];
    }
  }
}

static void subtract_patch(const kg_trace_loads_args *a, int32_t patch, double *sides)
{
  const kg_trace_arrays *arrays = &a->product.batch.arrays;
  const int m = a->product.batch.m;
  const int32_t edge0 = arrays->patch_edge[patch], halo0 = arrays->patch_halo[patch];
  const int32_t n_inside = arrays->patch_edge[patch + 1] - edge0;
  const int32_t n_halo = arrays->patch_halo[patch + 1] - halo0;
  const double *side = sides;
  place_sides(a, patch, sides);
  double *y = (double *)a->product.y + (int64_t)edge0 * m;
  for (int32_t f = 0; f < n_inside; ++f, side += 2 * m)
    for (int k = 0; k < m; ++k) *y++ -= side[k] + side[m + k];
  for (int32_t f = 0; f < n_halo; ++f, side += 2 * m) {
    double *row = kg_halo_row(&a->product, arrays->halo_edge[halo0 + f], m * (int64_t)sizeof *row);
    for (int k = 0; row && k < m; ++k) row[k] -= side[k];
  }
}

kedge_status kg_trace_loads_host(kedge_context *ctx, const kg_trace_loads_args *args)
{
  double(*sides)[KG_SIDE_CODES * (KEDGE_ORDER_MAX + 1)];  // [thread][side code][mode]
  _Static_assert(sizeof *sides <= KG_LOOP_SCRATCH, "work of a thread is predicted");
  KG_TRY(kg_loop_scratch(ctx, sizeof *sides, &sides));
#pragma omp parallel for schedule(static) num_threads( \
    kg_loop_threads(ctx, args->product.batch.count.n_elements, 4 * args->product.batch.m))
  for (int32_t patch = 0; patch < args->product.batch.count.n_patches; ++patch)
    subtract_patch(args, patch, sides[omp_get_thread_num()]);
  return KEDGE_OK;
}

kedge_status kg_trace_loads(kedge_context *ctx, const kg_trace_loads_args *args)
{
  assert(args->product.batch.arrays.lanes.run[1].n_lanes == 0);
  return KG_IMPLEMENTATION(ctx, kg_trace_loads_host, kg_trace_loads_cuda)(ctx, args);
}

/// F^e and codes of an element; the rows are read and written.
kg_cost kg_trace_loads_cost(int m, const kg_trace_counts *count)
{
  const double rows = (double)count->n_free * m;
  const double numbers = (double)count->n_sides * m;
  return (kg_cost){.bytes = 8.0 * numbers + 4.0 * count->n_elements + 16.0 * rows,
                   .flops = numbers};
}

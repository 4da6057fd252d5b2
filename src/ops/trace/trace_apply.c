#include "ops/trace/trace_apply.h"

#include "device/context.h"
#include "ops/local/triangle/batch_part.h"

bool kg_trace_takes_many(kedge_context *ctx, const kg_trace_apply_args *args)
{
  static bool (*const double_fits)(kedge_context *, const kg_trace_apply_args *) =
      KG_IF_CUDA(kg_trace_many_fits);
  static bool (*const single_fits)(kedge_context *, const kg_trace_apply_args *) =
      KG_IF_CUDA(kg_trace_many_fits_single);
  if (!kg_all_lanes_are(&args->batch.arrays.lanes, KG_TRIANGLES) ||
      args->local.layout == KG_LAYOUT_FULL || args->batch.m > KG_MANY_MODES_MAX)
    return false;
  return ctx->backend != KEDGE_BACKEND_CUDA ||
         (args->local.number == KG_SINGLE ? single_fits : double_fits)(ctx, args);
}

kedge_status kg_trace_apply(kedge_context *ctx, const kg_trace_apply_args *args)
{
  const kg_local *local = &args->local;
  const int m = args->batch.m;
  (void)m;
  const kg_trace_arrays *arrays = &args->batch.arrays;
  (void)arrays;
  assert(local->layout != KG_LAYOUT_FULL && local->n == arrays->lanes.run[0].n_facets * m);
  assert(arrays->lanes.run[0].n_facets == 3 ||
         (local->layout != KG_LAYOUT_REDUCED && m <= KG_SPACE_FACET_MAX));
  assert(arrays->lanes.run[1].n_lanes == 0);
  assert(local->layout != KG_LAYOUT_DIFFERENCES || local->number == KG_SINGLE);
  assert(local->n_lanes == args->batch.count.n_groups * KG_LANES);
  if (args->pass.open) {
    const kg_trace_counts *n = &args->batch.count;
    const int64_t row = m * (args->pass.many ? KG_VECTORS : 1);
    *args->pass.open = (kg_open){n->n_interior * row, n->n_shared * row, args->halo};
  }
  return KG_IMPLEMENTATION_OF_NUMBER(ctx, local->number, kg_trace_apply_host, kg_trace_apply_cuda)(
      ctx, args);
}

/// A sum so far lies in the first part, which the first kg_local no longer needs.
kedge_status kg_trace_product(kedge_context *ctx, const kg_trace_product_args *args)
{
  const int last = args->locals.n_locals - 1;
  const int32_t patch_lanes = args->batch.count.patch_groups * KG_LANES;
  const kg_sum *sum = &args->pass.sum;
  kg_open later;
  assert(!args->pass.many || last == 0);
  for (int i = 0; i <= last; ++i) {
    const kg_local *local = &args->locals.local[i];
    kg_trace_apply_args part = {.batch = kg_batch_of_local(&args->batch, local),
                                .local = *local,
                                .x = args->x,
                                .y = args->y,
                                .halo = args->halo,
                                .pass = args->pass};
    if (i > 0) part.pass.after_vectors = false;
    if (i < last) part.pass.open = &later;
    if (sum->total) {
      part.pass.sum = (kg_sum){.part = sum->part + local->first_lane / patch_lanes,
                               .total = i < last ? sum->part : sum->total,
                               .exponent = i < last ? NULL : sum->exponent,
                               .before = i > 0 ? sum->part : NULL,
                               .stride = sum->stride,
                               .parts = sum->parts};
    }
    KG_TRY(kg_trace_apply(ctx, &part));
  }
  return KEDGE_OK;
}

/// Each number of K^e but those of fluxes is in a product of two uses.
kg_cost kg_trace_product_cost(int m, const kg_trace_counts *count, const kg_locals *locals)
{
  const kg_number number = locals->local[0].number;
  const double real = (double)kg_number_bytes(number);
  const double vectors = m * ((double)count->n_edges + (double)count->n_free);
  kg_cost sum = {.bytes = real * vectors};
  for (const kg_local *local = locals->local; local < locals->local + locals->n_locals; ++local) {
    const double n = local->n, rows = local->rows, elements = local->n_elements;
    sum =
        kg_cost_plus(sum, 1, (kg_cost){real * rows * elements, (4.0 * rows - 2.0 * n) * elements});
  }
  return sum;
}

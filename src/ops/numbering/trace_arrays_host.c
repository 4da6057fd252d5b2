#include "device/context.h"
#include "ops/numbering/trace_arrays.h"

static void number_patch(const kg_trace_arrays_args *a, int32_t p)
{
  kg_patch_edges edges = kg_edges_of_patch(a, p);
  for (int32_t edge = edges.begin; edge < edges.end; ++edge)
    kg_number_edge(a, edge, edges.next[a->mesh.edge_section[edge]]++);
}

static void fill_patch(const kg_trace_arrays_args *a, int32_t p)
{
  const kg_lane_batch *batch = kg_batch_of_patch(&a->batches, p);
  const int k = (int)(batch - a->batches.batch);
  int32_t begin, end, entry = a->lanes[k].side_codes ? a->patch_halo[p] : 0;
  kg_patch_range(&a->batches, batch, p, &begin, &end);
  for (int32_t e = begin; e < end; ++e) {
    const kg_patch_element element = kg_element_of_patch(a, batch, e);
    kg_put_element(a, k, p, e, &element, entry);
    for (int l = 0; l < KG_FACETS_MAX; ++l) entry += element.in_halo[l];
  }
}

kedge_status kg_trace_arrays_fill_host(kedge_context *ctx, const kg_trace_arrays_args *args)
{
  const kg_trace_counts *count = &args->count;
#pragma omp parallel num_threads(ctx->threads)
  {
#pragma omp for schedule(static)
    for (int32_t p = 0; p < count->n_patches; ++p) number_patch(args, p);
#pragma omp for schedule(static)
    for (int32_t p = 0; p < count->n_patches; ++p) fill_patch(args, p);
  }
  for (int k = 0; k < args->batches.n; ++k) {
    const kg_lane_batch *batch = &args->batches.batch[k];
    for (int32_t lane = batch->n_elements; lane < batch->n_groups * KG_LANES; ++lane)
      kg_pad_lane(args, k, lane);
  }
  return KEDGE_OK;
}

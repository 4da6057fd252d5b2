#include "core/context.h"
#include "ops/trace_arrays.h"

static void number_patch(const kg_trace_arrays_args *a, int32_t p)
{
  kg_patch_edges edges = kg_edges_of_patch(a, p);
  for (int32_t edge = edges.begin; edge < edges.end; ++edge)
    kg_number_edge(a, edge, edges.next[a->mesh.edge_section[edge]]++);
}

static void fill_patch(const kg_trace_arrays_args *a, int32_t p)
{
  const int32_t patch_elements = a->count.patch_groups * KG_LANES;
  const int32_t begin = p * patch_elements, left = a->count.n_elements - begin;
  const int32_t end = begin + (left < patch_elements ? left : patch_elements);
  int32_t entry = a->side_codes ? a->patch_halo[p] : 0;
  for (int32_t e = begin; e < end; ++e) {
    const kg_patch_element element = kg_element_of_patch(a, e);
    kg_put_element(a, p, e, &element, entry);
    for (int l = 0; l < 3; ++l) entry += element.in_halo[l];
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
  for (int32_t lane = count->n_elements; lane < count->n_groups * KG_LANES; ++lane)
    kg_pad_lane(args, lane);
  return KEDGE_OK;
}

#include "ops/numbering/trace_arrays.h"

#include "device/backend.h"
#include "device/loop.h"

void kg_connectivity_declare(kg_plan *plan, const kg_trace_counts *count, unsigned phases,
                             kg_connectivity *to)
{
  const size_t n_sides = (size_t)count->n_sides, n_edges = (size_t)count->n_edges;
  const size_t n_first = KG_SECTION_COUNT * ((size_t)count->n_patches + 1), i = sizeof(int32_t);
  kg_plan_array(plan, "mesh: corners", n_sides, i, phases, &to->element_vertices);
  kg_plan_array(plan, "mesh: edges of sides", n_sides, i, phases, &to->side_edge);
  kg_plan_array(plan, "mesh: sides of edges", 2 * n_edges, sizeof(kg_side), phases,
                &to->edge_sides);
  kg_plan_array(plan, "mesh: sections", n_edges, 1, phases, &to->edge_section);
  kg_plan_array(plan, "mesh: first edges", n_first, i, phases, &to->section_first);
  kg_plan_array(plan, "mesh: numbers", n_edges, i, phases, &to->trace_of_edge);
}

kedge_status kg_connectivity_put(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kg_trace_layout *layout, const kg_connectivity *to)
{
  const size_t n_sides = (size_t)layout->count.n_sides, n_edges = (size_t)mesh->n_edges;
  const size_t n_first = KG_SECTION_COUNT * ((size_t)layout->count.n_patches + 1);
  KG_TRY(kg_copy_in(ctx, to->element_vertices, mesh->element_vertices, n_sides * sizeof(int32_t)));
  KG_TRY(kg_copy_in(ctx, to->side_edge, mesh->side_edge, n_sides * sizeof(uint32_t)));
  KG_TRY(kg_copy_in(ctx, to->edge_sides, mesh->edge_sides, 2 * n_edges * sizeof(kg_side)));
  KG_TRY(kg_copy_in(ctx, to->edge_section, layout->edge_section, n_edges));
  return kg_copy_in(ctx, to->section_first, layout->section_first, n_first * sizeof(int32_t));
}

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
#pragma omp parallel num_threads(kg_loop_threads(ctx, count->n_elements, 32))
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

KG_OPERATOR(kg_trace_arrays_fill, kg_trace_arrays_args)

/// An edge: section, two sides read and written, number written. A side: vertex, edge, number and
/// first side of the edge read; vertex and edge written. An element: its codes. A halo entry: its
/// edge.
kg_cost kg_trace_arrays_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = 21.0 * count->n_edges + 28.0 * (double)count->n_sides +
                            4.0 * count->n_elements + 4.0 * count->n_halo};
}

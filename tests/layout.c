#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/context.h"

void test_layout_bytes(const kg_trace_counts *n, size_t bytes[TEST_LAYOUT_ARRAYS])
{
  const size_t sides = 3 * KG_LANES * (size_t)n->n_groups, halo = (size_t)n->n_halo;
  const size_t expected[TEST_LAYOUT_ARRAYS] = {
      sides * sizeof(int32_t), sides * sizeof(uint32_t), 2 * (size_t)n->n_edges * sizeof(int32_t),
      sides / 3 * sizeof(uint32_t), halo * sizeof(uint32_t)};
  memcpy(bytes, expected, sizeof expected);
}

kg_trace_arrays_args test_layout_args(const kg_trace_layout *layout, const kg_connectivity *mesh,
                                      const int32_t *patch_halo,
                                      void *const pieces[TEST_LAYOUT_ARRAYS])
{
  return (kg_trace_arrays_args){.count = layout->count,
                                .batches = layout->batches,
                                .mesh = *mesh,
                                .lanes = {{pieces[0], pieces[1], pieces[3]}},
                                .patch_halo = patch_halo,
                                .edge_sides = pieces[2],
                                .halo_edge = pieces[4]};
}

/// The mesh's own arrays as they are; `trace_of_edge` is the caller's.
static kg_connectivity borrow(const kedge_mesh *mesh, const kg_trace_layout *layout,
                              int32_t *trace_of_edge)
{
  return (kg_connectivity){mesh->element_vertices, mesh->side_edge,       mesh->edge_sides,
                           layout->edge_section,   layout->section_first, trace_of_edge};
}

void test_layout_create(kedge_context *ctx, const kedge_mesh *mesh, const bool *is_dirichlet,
                        int patch_groups, test_layout *out)
{
  kg_trace_layout layout;
  if (kg_trace_layout_create(ctx, mesh, is_dirichlet, patch_groups, 0, NULL, &layout) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(ctx));
  size_t bytes[TEST_LAYOUT_ARRAYS];
  void *pieces[TEST_LAYOUT_ARRAYS];
  test_layout_bytes(&layout.count, bytes);
  for (int i = 0; i < TEST_LAYOUT_ARRAYS; ++i) {
    pieces[i] = malloc(bytes[i] + 1);
    assert_non_null(pieces[i]);
    memset(pieces[i], 0x55, bytes[i]);  // no number of an edge, a side or an entry of a test
  }
  const size_t n_edges = (size_t)mesh->n_edges, n_patches = (size_t)layout.count.n_patches;
  int32_t *const trace_of_edge = malloc(n_edges * sizeof *trace_of_edge);
  int32_t *const mesh_edge = malloc(n_edges * sizeof *mesh_edge);
  int32_t *const patch_edge = malloc((n_patches + 1) * sizeof *patch_edge);
  assert_true(trace_of_edge && mesh_edge && patch_edge);
  const kg_connectivity connectivity = borrow(mesh, &layout, trace_of_edge);
  const kg_trace_arrays_args args =
      test_layout_args(&layout, &connectivity, layout.patch_halo, pieces);
  assert_int_equal(kg_trace_arrays_fill_host(ctx, &args), KEDGE_OK);
  for (size_t edge = 0; edge < n_edges; ++edge) mesh_edge[trace_of_edge[edge]] = (int32_t)edge;
  memcpy(patch_edge, kg_section_first(&layout, KG_SECTION_INSIDE),
         (n_patches + 1) * sizeof *patch_edge);
  *out = (test_layout){.count = layout.count,
                       .cut = layout,
                       .host = {.lanes = layout.count.lanes,
                                .vertices = mesh->vertices,
                                .vertex = pieces[0],
                                .side_edge = pieces[1],
                                .side_codes = pieces[3],
                                .patch_edge = patch_edge,
                                .patch_halo = layout.patch_halo,
                                .halo_edge = pieces[4],
                                .edge_sides = pieces[2]},
                       .mesh_edge = mesh_edge};
  free(trace_of_edge);
}

void test_layout_free(test_layout *layout)
{
  const kg_trace_arrays *a = &layout->host;
  const void *const owned[] = {a->vertex,    a->side_edge,  a->side_codes,    a->patch_edge,
                               a->halo_edge, a->edge_sides, layout->mesh_edge};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) free((void *)owned[i]);
  kg_trace_layout_free(&layout->cut);
  *layout = (test_layout){0};
}

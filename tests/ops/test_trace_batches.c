// The trace of meshes of quadrilaterals, of both shapes, and of meshes cut into batches anywhere.
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/trace/trace_sides.h"

/// A filled trace, in device memory and back.
typedef struct trace {
  const kedge_mesh *mesh;
  kg_trace_layout layout;
  kg_trace_arrays_args args;
  kg_plan source;
  kg_buffer patch_halo, vertex[KG_BATCHES_MAX], side_edge[KG_BATCHES_MAX],
      side_codes[KG_BATCHES_MAX], edge_sides, halo_edge;
  int32_t *host_vertex[KG_BATCHES_MAX], *mesh_edge;
  uint32_t *host_side_edge[KG_BATCHES_MAX], *host_codes[KG_BATCHES_MAX], *host_halo;
  kg_side *host_sides;
} trace;

static void *bring(const kg_buffer *buffer, size_t bytes)
{
  void *const host = malloc(bytes + 1);
  assert_non_null(host);
  must(ctx, kg_copy_out(ctx, host, buffer->data, bytes));
  must(ctx, kg_sync(ctx));
  return host;
}

static size_t lanes_of(const kg_lane_batch *b)
{
  return (size_t)b->n_groups * KG_LANES;
}

static void allocate(trace *t)
{
  const kg_trace_counts *n = &t->layout.count;
  must(ctx, kg_upload(ctx, t->layout.patch_halo, (size_t)n->n_patches + 1, sizeof(int32_t),
                      &t->patch_halo));
  must(ctx, kg_alloc(ctx, 2 * (size_t)n->n_edges, sizeof(kg_side), &t->edge_sides));
  must(ctx, kg_alloc(ctx, (size_t)n->n_halo, sizeof(uint32_t), &t->halo_edge));
  t->args = (kg_trace_arrays_args){
      .count = *n,
      .batches = t->layout.batches,
      .edge_sides = t->edge_sides.data,
      .patch_halo = t->patch_halo.data,
      .halo_edge = t->halo_edge.data,
  };
  kg_connectivity_declare(&t->source, n, 1, &t->args.mesh);
  kg_plan_place(&t->source);
  must(ctx, kg_plan_commit(ctx, &t->source));
  for (int k = 0; k < t->layout.batches.n; ++k) {
    const kg_lane_batch *b = &t->layout.batches.batch[k];
    const size_t lanes = lanes_of(b), sides = (size_t)b->n_facets * lanes;
    must(ctx, kg_alloc(ctx, sides, sizeof(int32_t), &t->vertex[k]));
    must(ctx, kg_alloc(ctx, sides, sizeof(uint32_t), &t->side_edge[k]));
    must(ctx, kg_alloc(ctx, (size_t)kg_code_words(b->n_facets) * lanes, sizeof(uint32_t),
                       &t->side_codes[k]));
    t->args.lanes[k] =
        (kg_lane_arrays){t->vertex[k].data, t->side_edge[k].data, t->side_codes[k].data};
  }
}

static void fill(trace *t, const kedge_mesh *mesh, int patch_groups, int n_cuts, const int32_t *cut)
{
  bool is_dirichlet[16];
  for (int g = 0; g < 16; ++g) is_dirichlet[g] = g % 2 == 0;
  *t = (trace){.mesh = mesh};
  must(ctx, kg_trace_layout_create(ctx, mesh, is_dirichlet, patch_groups, n_cuts, cut, &t->layout));
  allocate(t);
  must(ctx, kg_connectivity_put(ctx, mesh, &t->layout, &t->args.mesh));
  must(ctx, kg_trace_arrays_fill(ctx, &t->args));
  const size_t n_edges = (size_t)mesh->n_edges;
  const kg_buffer trace_of_edge = {.data = t->args.mesh.trace_of_edge};
  int32_t *const of_edge = bring(&trace_of_edge, n_edges * sizeof *of_edge);
  t->mesh_edge = calloc(n_edges, sizeof *t->mesh_edge);
  assert_non_null(t->mesh_edge);
  for (size_t edge = 0; edge < n_edges; ++edge) t->mesh_edge[of_edge[edge]] = (int32_t)edge;
  free(of_edge);
  t->host_sides = bring(&t->edge_sides, 2 * n_edges * sizeof(kg_side));
  t->host_halo = bring(&t->halo_edge, (size_t)t->layout.count.n_halo * sizeof(uint32_t));
  for (int k = 0; k < t->layout.batches.n; ++k) {
    const kg_lane_batch *b = &t->layout.batches.batch[k];
    const size_t sides = (size_t)b->n_facets * lanes_of(b) * sizeof(int32_t);
    t->host_vertex[k] = bring(&t->vertex[k], sides);
    t->host_side_edge[k] = bring(&t->side_edge[k], sides);
    t->host_codes[k] = bring(&t->side_codes[k],
                             (size_t)kg_code_words(b->n_facets) * lanes_of(b) * sizeof(uint32_t));
  }
}

static void release(trace *t)
{
  kg_plan_free(ctx, &t->source);
  kg_buffer *const buffers[] = {&t->patch_halo, &t->edge_sides, &t->halo_edge};
  for (int i = 0; i < 3; ++i) kg_free(ctx, buffers[i]);
  for (int k = 0; k < t->layout.batches.n; ++k) {
    kg_free(ctx, &t->vertex[k]);
    kg_free(ctx, &t->side_edge[k]);
    kg_free(ctx, &t->side_codes[k]);
    free(t->host_vertex[k]);
    free(t->host_side_edge[k]);
    free(t->host_codes[k]);
  }
  free(t->mesh_edge);
  free(t->host_sides);
  free(t->host_halo);
  kg_trace_layout_free(&t->layout);
}

/// Lanes have the vertices and edges of their elements, empty ones those of the last.
static void check_lanes(const trace *t)
{
  for (int k = 0; k < t->layout.batches.n; ++k) {
    const kg_lane_batch *b = &t->layout.batches.batch[k];
    for (int32_t lane = 0; lane < (int32_t)lanes_of(b); ++lane) {
      const int32_t e = b->first_element + (lane < b->n_elements ? lane : b->n_elements - 1);
      const int32_t *v = kg_element_vertices(t->mesh, e);
      assert_int_equal(kg_block_of(t->mesh, e)->cell->n_facets, b->n_facets);
      for (int l = 0; l < b->n_facets; ++l) {
        const int64_t at = kg_lane_side(b->n_facets, lane, l);
        const uint32_t both = t->host_side_edge[k][at];
        assert_int_equal(t->host_vertex[k][at], v[l]);
        assert_int_equal(t->mesh_edge[both >> 1], kg_side_edge(t->mesh, kg_side_of(e, l)));
        assert_int_equal(both & 1u, v[l] > v[kg_next_facet(b->n_facets, l)]);
      }
    }
  }
}

/// The sides of an edge are those of its lanes, and its section follows from their patches.
static void check_sides(const trace *t)
{
  const kg_trace_counts *n = &t->layout.count;
  const kg_lane_batches *batches = &t->layout.batches;
  assert_int_equal(n->n_interior + n->n_shared + n->n_neumann, n->n_free);
  for (int32_t edge = 0; edge < n->n_edges; ++edge) {
    const kg_side *of_lanes = t->host_sides + 2 * edge;
    const kg_side *of_elements = t->mesh->edge_sides + 2 * t->mesh_edge[edge];
    int32_t patch[2] = {-1, -1};
    for (int k = 0; k < 2; ++k) {
      if (of_elements[k] == KG_NO_SIDE) {
        assert_int_equal(of_lanes[k], KG_NO_SIDE);
        continue;
      }
      const int32_t e = kg_side_element(of_elements[k]);
      assert_int_equal(kg_side_facet(of_lanes[k]), kg_side_facet(of_elements[k]));
      assert_int_equal(kg_side_element(of_lanes[k]), kg_lane_of(batches, e));
      patch[k] = kg_side_element(of_lanes[k]) / batches->patch_elements;
    }
    const bool is_inner = patch[1] >= 0, is_inside = is_inner && patch[0] == patch[1];
    assert_int_equal(edge < n->n_interior, is_inside);
    assert_int_equal(edge < n->n_interior + n->n_shared, is_inner);
  }
}

/// The codes of a patch mean its edges, inside ones first, and no two are the same.
static void check_patch(const trace *t, int32_t patch, int *entries)
{
  const kg_lane_batch *b = kg_batch_of_patch(&t->layout.batches, patch);
  const int k = (int)(b - t->layout.batches.batch), n = b->n_facets;
  const int32_t *inside = kg_section_first(&t->layout, KG_SECTION_INSIDE) + patch;
  const int32_t n_inside = inside[1] - inside[0], *halo = t->layout.patch_halo + patch;
  bool taken[KG_WIDE_SIDE_CODES] = {false};
  int32_t begin, end, n_outer = 0;
  kg_patch_range(&t->layout.batches, b, patch, &begin, &end);
  assert_true(end > begin && end <= b->first_element + b->n_elements);
  for (int32_t lane = begin - b->first_element; lane < end - b->first_element; ++lane)
    for (int l = 0; l < n; ++l) {
      const int code = kg_side_code_at(t->host_codes[k], n, lane, l);
      const int32_t edge = (int32_t)(t->host_side_edge[k][kg_lane_side(n, lane, l)] >> 1);
      assert_false(taken[code]);
      taken[code] = true;
      if (code / 2 < n_inside) {
        assert_int_equal(inside[0] + code / 2, edge);
        continue;
      }
      const uint32_t entry = t->host_halo[halo[0] + code / 2 - n_inside];
      const kg_side side = t->host_sides[2 * edge + (entry & 1u)];
      assert_int_equal(entry >> 1, edge);
      assert_int_equal(side, kg_side_of(b->first_group * KG_LANES + lane, l));
      ++entries[edge];
      ++n_outer;
    }
  assert_int_equal(n_outer, halo[1] - halo[0]);
}

static void check_patches(const trace *t)
{
  const kg_trace_counts *n = &t->layout.count;
  int *const entries = calloc((size_t)n->n_edges, sizeof *entries);
  assert_non_null(entries);
  for (int32_t patch = 0; patch < n->n_patches; ++patch) check_patch(t, patch, entries);
  for (int32_t edge = 0; edge < n->n_edges; ++edge)
    assert_int_equal(entries[edge], edge < n->n_interior                 ? 0
                                    : edge < n->n_interior + n->n_shared ? 2
                                                                         : 1);
  free(entries);
}

/// What kg_trace_sides() makes anew of each batch.
static void check_made_anew(const trace *t)
{
  kg_buffer patch_edge;
  const int32_t *inside = kg_section_first(&t->layout, KG_SECTION_INSIDE);
  must(ctx,
       kg_upload(ctx, inside, (size_t)t->layout.count.n_patches + 1, sizeof(int32_t), &patch_edge));
  for (int k = 0; k < t->layout.batches.n; ++k) {
    const kg_lane_batch *b = &t->layout.batches.batch[k];
    const size_t sides = (size_t)b->n_facets * lanes_of(b);
    kg_buffer anew;
    must(ctx, kg_alloc(ctx, sides, sizeof(uint32_t), &anew));
    const kg_batch batch = {
        .count = {.n_groups = b->n_groups, .patch_groups = t->layout.count.patch_groups},
        .arrays = {.lanes = kg_lanes_of_one_shape(kg_cell_index(b->cell), b->n_facets,
                                                  b->n_groups * KG_LANES),
                   .vertex = t->vertex[k].data,
                   .side_codes = t->side_codes[k].data,
                   .halo_edge = t->halo_edge.data,
                   .patch_edge = (const int32_t *)patch_edge.data + b->first_patch,
                   .patch_halo = (const int32_t *)t->patch_halo.data + b->first_patch}};
    // Groups that hold no element at all belong to the patch of the last element.
    must(ctx, kg_trace_sides(ctx, &(kg_trace_sides_args){batch, anew.data}));
    uint32_t *const made = bring(&anew, sides * sizeof *made);
    assert_memory_equal(made, t->host_side_edge[k], sides * sizeof *made);
    free(made);
    kg_free(ctx, &anew);
  }
  kg_free(ctx, &patch_edge);
}

static void check(const kedge_mesh *mesh, int n_cuts, const int32_t *cut)
{
  for (int patch_groups = 1; patch_groups <= KG_PATCH_GROUPS_MAX;
       patch_groups += test_is_quick() ? 7 : 1) {
    trace t;
    fill(&t, mesh, patch_groups, n_cuts, cut);
    check_lanes(&t);
    check_sides(&t);
    check_patches(&t);
    check_made_anew(&t);
    release(&t);
  }
}

static void quadrilaterals_have_their_trace(void **state)
{
  (void)state;
  const char *const words[] = {"quads 1", "quads 6", "quads 23"};
  for (int i = 0; i < 3; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words[i], &mesh));
    check(mesh, 0, NULL);
    const int32_t cut[] = {mesh->n_elements / 3, mesh->n_elements / 2};
    if (i > 0) check(mesh, 2, cut);
    kedge_mesh_destroy(mesh);
  }
}

static void both_shapes_have_one_trace(void **state)
{
  (void)state;
  for (int n = 1; n <= 21; n += 5) {
    kedge_mesh *mesh = test_checkerboard(ctx, n);
    assert_int_equal(mesh->n_blocks, n > 1 ? 2 : 1);
    check(mesh, 0, NULL);
    const int32_t cut[] = {1, mesh->n_elements - 1};
    if (n > 1) check(mesh, 2, cut);
    kedge_mesh_destroy(mesh);
  }
}

static void triangles_may_be_cut_into_batches_anywhere(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 14", &mesh));
  for (int32_t cut = 1; cut < mesh->n_elements; cut += test_is_quick() ? 130 : 37)
    check(mesh, 1, &cut);
  const int32_t cuts[] = {
      0, 1, 2, 64, 65, 300, mesh->n_elements};  // the first and last cut nothing
  check(mesh, 7, cuts);
  kedge_mesh_destroy(mesh);
}

static void one_batch_has_the_numbers_of_its_elements(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  trace t;
  must(ctx, kedge_mesh_generate(ctx, "square 9", &mesh));
  fill(&t, mesh, 2, 0, NULL);
  assert_int_equal(t.layout.batches.n, 1);
  assert_int_equal(t.layout.count.n_groups, (mesh->n_elements + KG_LANES - 1) / KG_LANES);
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    assert_memory_equal(t.host_sides + 2 * edge, mesh->edge_sides + 2 * t.mesh_edge[edge],
                        2 * sizeof(kg_side));
  release(&t);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quadrilaterals_have_their_trace),
      cmocka_unit_test(both_shapes_have_one_trace),
      cmocka_unit_test(triangles_may_be_cut_into_batches_anywhere),
      cmocka_unit_test(one_batch_has_the_numbers_of_its_elements),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// What kernels take for granted about the trace layout.
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/trace/trace_apply.h"

enum section { INSIDE, SHARED, NEUMANN, DIRICHLET };

typedef struct layout_case {
  kedge_mesh *mesh;
  bool is_dirichlet[8];
  test_layout layout;
  int32_t patch_elements;
} layout_case;

typedef void layout_check(const layout_case *c);

static void check_layout(int n, int boundary, int patch_groups, layout_check *check)
{
  layout_case c = {.mesh = test_irregular_mesh(ctx, n), .patch_elements = patch_groups * KG_LANES};
  assert_in_range(c.mesh->n_groups, 1, 8);
  for (int g = 0; g < c.mesh->n_groups; ++g)
    c.is_dirichlet[g] = boundary == CASE_DIRICHLET ||
                        (boundary == CASE_MIXED && c.mesh->groups[g].tag == GRID_WALL);
  test_layout_create(ctx, c.mesh, c.is_dirichlet, patch_groups, &c.layout);
  check(&c);
  test_layout_free(&c.layout);
  kedge_mesh_destroy(c.mesh);
}

static void for_all_layouts(layout_check *check)
{
  const int sizes[] = {1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int patch_groups = 1; patch_groups <= 8; patch_groups *= 2)
        check_layout(sizes[i], boundary, patch_groups, check);
}

static enum section section_of(const layout_case *c, int32_t mesh_edge)
{
  const kg_side *sides = c->mesh->edge_sides + 2 * mesh_edge;
  if (sides[1] == KG_NO_SIDE)
    return c->is_dirichlet[c->mesh->edge_group[mesh_edge]] ? DIRICHLET : NEUMANN;
  const int32_t first = kg_side_element(sides[0]), second = kg_side_element(sides[1]);
  return first / c->patch_elements == second / c->patch_elements ? INSIDE : SHARED;
}

static void check_sections(const layout_case *c)
{
  const kg_trace_counts *n = &c->layout.count;
  assert_int_equal(n->n_free, n->n_interior + n->n_shared + n->n_neumann);
  assert_int_equal(n->n_edges, c->mesh->n_edges);
  const int32_t end[] = {n->n_interior, n->n_interior + n->n_shared, n->n_free, n->n_edges};
  char *seen = calloc((size_t)n->n_edges, 1);
  assert_non_null(seen);
  for (int32_t trace = 0; trace < n->n_edges; ++trace) {
    const int32_t edge = c->layout.mesh_edge[trace];
    assert_true(edge >= 0 && edge < n->n_edges && !seen[edge]);
    seen[edge] = 1;
    const enum section section = section_of(c, edge);
    assert_true(trace < end[section] && (section == INSIDE || trace >= end[section - 1]));
    assert_memory_equal(c->layout.host.edge_sides + 2 * trace, c->mesh->edge_sides + 2 * edge,
                        2 * sizeof(kg_side));
  }
  free(seen);
}

static void every_edge_is_in_its_section_once(void **state)
{
  (void)state;
  for_all_layouts(check_sections);
}

static void check_groups(const layout_case *c)
{
  const kg_trace_arrays *a = &c->layout.host;
  const int32_t n = c->mesh->n_elements;
  assert_int_equal(c->layout.count.n_groups, (n + KG_LANES - 1) / KG_LANES);
  for (int32_t lane = 0; lane < c->layout.count.n_groups * KG_LANES; ++lane) {
    const int32_t e = lane < n ? lane : n - 1;  // empty lanes repeat the last element
    for (int l = 0; l < 3; ++l) {
      const size_t at = (size_t)(lane / KG_LANES * 3 + l) * KG_LANES + lane % KG_LANES;
      const uint32_t side = c->mesh->side_edge[3 * e + l];
      assert_int_equal(a->vertex[at], c->mesh->element_vertices[3 * e + l]);
      assert_int_equal(c->layout.mesh_edge[a->side_edge[at] >> 1], side >> 1);
      assert_int_equal(a->side_edge[at] & 1u, side & 1u);
    }
    assert_int_equal(a->side_codes[lane], a->side_codes[e]);
  }
}

static void lanes_hold_their_element_and_empty_ones_the_last(void **state)
{
  (void)state;
  for_all_layouts(check_groups);
}

/// The trace edge that `local` of a patch means.
static int32_t edge_in_patch(const kg_trace_arrays *a, int32_t patch, int32_t local)
{
  const int32_t inside = a->patch_edge[patch + 1] - a->patch_edge[patch];
  if (local < inside) return a->patch_edge[patch] + local;
  assert_true(a->patch_halo[patch] + local - inside < a->patch_halo[patch + 1]);
  return (int32_t)(a->halo_edge[a->patch_halo[patch] + local - inside] >> 1);
}

/// Codes of the sides of a patch: each means the edge of its side, and no two are the same.
static void check_codes(const layout_case *c, int32_t patch)
{
  const kg_trace_arrays *a = &c->layout.host;
  const int32_t first = patch * c->patch_elements, n = c->mesh->n_elements;
  const int32_t last = n - first < c->patch_elements ? n : first + c->patch_elements;
  char taken[KG_SIDE_CODES] = {0};
  for (int32_t i = 3 * first; i < 3 * last; ++i) {
    const int32_t e = i / 3, code = kg_side_code(a->side_codes[e], i % 3);
    const size_t at = (size_t)(e / KG_LANES * 3 + i % 3) * KG_LANES + e % KG_LANES;
    assert_int_equal(edge_in_patch(a, patch, code / 2), a->side_edge[at] >> 1);
    assert_false(taken[code]);
    taken[code] = 1;
  }
  const int32_t inside = a->patch_edge[patch + 1] - a->patch_edge[patch];
  const int32_t all = inside + a->patch_halo[patch + 1] - a->patch_halo[patch];
  for (int32_t code = 0; code < KG_SIDE_CODES; ++code)
    assert_int_equal(taken[code], code < 2 * inside || (code < 2 * all && code % 2 == 0));
}

static void check_local_edges(const layout_case *c)
{
  for (int32_t patch = 0; patch < c->layout.count.n_patches; ++patch) check_codes(c, patch);
}

static void every_side_has_its_place_in_the_patch_edges_inside_both_and_the_halo_one(void **state)
{
  (void)state;
  for_all_layouts(check_local_edges);
}

/// Which patch edges write what: rows inside, or halo entries.
static void check_patch(const layout_case *c, int32_t patch, int *writers, int *entries)
{
  const kg_trace_arrays *a = &c->layout.host;
  const int32_t inside = a->patch_edge[patch + 1] - a->patch_edge[patch];
  const int32_t all = inside + a->patch_halo[patch + 1] - a->patch_halo[patch];
  for (int32_t local = 0; local < all; ++local)
    ++(local < inside ? writers : entries)[edge_in_patch(a, patch, local)];
}

static void check_writers(const layout_case *c)
{
  const kg_trace_counts *n = &c->layout.count;
  int *writers = calloc((size_t)n->n_edges, sizeof *writers);
  int *entries = calloc((size_t)n->n_edges, sizeof *entries);
  assert_true(writers && entries);
  assert_int_equal(c->layout.host.patch_edge[n->n_patches], n->n_interior);
  assert_int_equal(c->layout.host.patch_halo[n->n_patches], n->n_halo);
  for (int32_t patch = 0; patch < n->n_patches; ++patch) check_patch(c, patch, writers, entries);
  for (int32_t trace = 0; trace < n->n_edges; ++trace) {
    assert_int_equal(writers[trace], trace < n->n_interior);
    const bool shared = trace >= n->n_interior && trace < n->n_interior + n->n_shared;
    assert_int_equal(entries[trace], trace < n->n_interior ? 0 : shared ? 2 : 1);
  }
  free(writers);
  free(entries);
}

static void inside_edges_are_written_once_and_the_others_by_every_patch_that_has_them(void **state)
{
  (void)state;
  for_all_layouts(check_writers);
}

static void check_entries(const layout_case *c)
{
  const kg_trace_arrays *a = &c->layout.host;
  for (int32_t patch = 0; patch < c->layout.count.n_patches; ++patch)
    for (int32_t entry = a->patch_halo[patch]; entry < a->patch_halo[patch + 1]; ++entry) {
      const kg_side *sides = a->edge_sides + 2 * (size_t)(a->halo_edge[entry] >> 1);
      const bool second = a->halo_edge[entry] & 1u;
      assert_int_equal(kg_side_element(sides[second]) / c->patch_elements, patch);
      assert_true(sides[0] < sides[1] || !second);
    }
}

static void of_the_two_entries_of_an_edge_one_is_the_second(void **state)
{
  (void)state;
  for_all_layouts(check_entries);
}

static void a_patch_of_more_than_eight_groups_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 2);
  const bool none[8] = {false};
  kg_trace_layout layout;
  for (int groups = 0; groups <= 9; groups += 9) {
    assert_int_equal(kg_trace_layout_create(ctx, mesh, none, groups, 0, NULL, &layout),
                     KEDGE_ERR_INTERNAL);
    char sentence[32];
    snprintf(sentence, sizeof sentence, "a patch of %d groups", groups);
    assert_non_null(strstr(kedge_context_error(ctx), sentence));
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_edge_is_in_its_section_once),
      cmocka_unit_test(lanes_hold_their_element_and_empty_ones_the_last),
      cmocka_unit_test(every_side_has_its_place_in_the_patch_edges_inside_both_and_the_halo_one),
      cmocka_unit_test(inside_edges_are_written_once_and_the_others_by_every_patch_that_has_them),
      cmocka_unit_test(of_the_two_entries_of_an_edge_one_is_the_second),
      cmocka_unit_test(a_patch_of_more_than_eight_groups_is_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// The arrays of the trace on every backend: those of the host, bit for bit.
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "layout.h"
#include "ops/trace/trace_sides.h"

/// Device memory with a guard behind it.
typedef struct piece {
  kg_buffer buffer;
  size_t bytes;
} piece;

enum { GUARD = 64, GUARD_BYTE = 0x3c };

static piece make_piece(size_t bytes)
{
  piece p = {.bytes = bytes};
  char *const host = malloc(bytes + GUARD);
  assert_non_null(host);
  memset(host, GUARD_BYTE, bytes + GUARD);
  must(ctx, kg_upload(ctx, host, bytes + GUARD, 1, &p.buffer));
  free(host);
  return p;
}

static void check_piece(const piece *p, const void *expected)
{
  char *const host = malloc(p->bytes + GUARD);
  assert_non_null(host);
  must(ctx, kg_copy_out(ctx, host, p->buffer.data, p->bytes + GUARD));
  must(ctx, kg_sync(ctx));
  if (expected) assert_memory_equal(host, expected, p->bytes);
  for (size_t i = 0; i < GUARD; ++i) assert_int_equal(host[p->bytes + i], GUARD_BYTE);
  free(host);
}

/// The sides of elements, made from the other arrays, are what they were.
static void check_sides(const kg_trace_layout *layout, const piece *arrays,
                        const kg_buffer *patch_halo, const uint32_t *expected)
{
  kg_buffer patch_edge;
  piece sides = make_piece(arrays[1].bytes);
  must(ctx, kg_upload(ctx, kg_section_first(layout, KG_SECTION_INSIDE),
                      (size_t)layout->count.n_patches + 1, sizeof(int32_t), &patch_edge));
  const kg_batch batch = {.count = layout->count,
                          .arrays = {.lanes = layout->count.lanes,
                                     .vertex = arrays[0].buffer.data,
                                     .side_codes = arrays[3].buffer.data,
                                     .halo_edge = arrays[4].buffer.data,
                                     .patch_edge = patch_edge.data,
                                     .patch_halo = patch_halo->data}};
  must(ctx, kg_trace_sides(ctx, &(kg_trace_sides_args){batch, sides.buffer.data}));
  check_piece(&sides, expected);
  kg_free(ctx, &sides.buffer);
  kg_free(ctx, &patch_edge);
}

/// Fill on the device and compare.
/// @param[in] n_arrays  of test_layout_bytes() that are wanted: 3 without those of patches
static void check_arrays(const kedge_mesh *mesh, const bool *is_dirichlet, int patch_groups,
                         int n_arrays)
{
  test_layout host;
  test_layout_create(ctx, mesh, is_dirichlet, patch_groups, &host);
  kg_trace_layout layout;
  must(ctx, kg_trace_layout_create(ctx, mesh, is_dirichlet, patch_groups, 0, NULL, &layout));
  size_t bytes[TEST_LAYOUT_ARRAYS];
  piece written[TEST_LAYOUT_ARRAYS];
  kg_plan plan = {0};
  kg_connectivity connectivity;
  kg_connectivity_declare(&plan, &layout.count, 1, &connectivity);
  kg_plan_place(&plan);
  must(ctx, kg_plan_commit(ctx, &plan));
  must(ctx, kg_connectivity_put(ctx, mesh, &layout, &connectivity));
  kg_buffer patch_halo;
  must(ctx, kg_upload(ctx, layout.patch_halo, (size_t)layout.count.n_patches + 1, sizeof(int32_t),
                      &patch_halo));
  test_layout_bytes(&layout.count, bytes);
  void *pointers[TEST_LAYOUT_ARRAYS] = {NULL};
  for (int i = 0; i < n_arrays; ++i) {
    written[i] = make_piece(bytes[i]);
    pointers[i] = written[i].buffer.data;
  }
  const kg_trace_arrays_args args =
      test_layout_args(&layout, &connectivity, patch_halo.data, pointers);
  must(ctx, kg_trace_arrays_fill(ctx, &args));

  const void *const expected[TEST_LAYOUT_ARRAYS] = {host.host.vertex, host.host.side_edge,
                                                    host.host.edge_sides, host.host.side_codes,
                                                    host.host.halo_edge};
  if (n_arrays == TEST_LAYOUT_ARRAYS)
    check_sides(&layout, written, &patch_halo, host.host.side_edge);
  for (int i = 0; i < n_arrays; ++i) {
    check_piece(&written[i], expected[i]);
    kg_free(ctx, &written[i].buffer);
  }
  kg_plan_free(ctx, &plan);
  kg_free(ctx, &patch_halo);
  kg_trace_layout_free(&layout);
  test_layout_free(&host);
}

/// Every condition on every group, and a mix; patches of any size. Destroys the mesh.
static void check_mesh(kedge_mesh *mesh)
{
  assert_in_range(mesh->n_groups, 1, 16);
  for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary) {
    bool is_dirichlet[16];
    for (int g = 0; g < mesh->n_groups; ++g)
      is_dirichlet[g] = boundary == CASE_DIRICHLET || (boundary == CASE_MIXED && g % 2 == 0);
    for (int patch_groups = 1; patch_groups <= KG_PATCH_GROUPS_MAX;
         patch_groups += test_is_quick() ? 7 : 1)
      check_arrays(mesh, is_dirichlet, patch_groups, TEST_LAYOUT_ARRAYS);
    check_arrays(mesh, is_dirichlet, 4, 3);
  }
  kedge_mesh_destroy(mesh);
}

static void irregular_meshes_of_every_size_have_the_arrays_of_the_host(void **state)
{
  (void)state;
  const int sizes[] = {33, 257, 1, 2, 31, 32, 255, 256, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i) check_mesh(test_irregular_mesh(ctx, sizes[i]));
}

static void generated_and_refined_meshes_have_the_arrays_of_the_host(void **state)
{
  (void)state;
  const char *const words[] = {"square 23", "lshape 11", "ring 5 41"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    kedge_mesh *mesh, *refined;
    must(ctx, kedge_mesh_generate(ctx, words[i], &mesh));
    must(ctx, kedge_mesh_refine(ctx, mesh, 1, &refined));
    check_mesh(mesh);
    check_mesh(refined);
  }
}

static void meshes_of_gmsh_have_the_arrays_of_the_host(void **state)
{
  (void)state;
  const char *const names[] = {"plate", "slit", "inclusion41", "lshape"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char path[512];
    kedge_mesh *mesh;
    snprintf(path, sizeof path, "%s/meshes/%s.msh", KEDGE_SOURCE_DIR, names[i]);
    must(ctx, kedge_mesh_read(ctx, path, &mesh));
    check_mesh(mesh);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(irregular_meshes_of_every_size_have_the_arrays_of_the_host),
      cmocka_unit_test(generated_and_refined_meshes_have_the_arrays_of_the_host),
      cmocka_unit_test(meshes_of_gmsh_have_the_arrays_of_the_host),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

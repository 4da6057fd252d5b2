// A mesh that a backend builds is the host's, bit for bit, and what one refuses the other refuses
// in the same words. On the CUDA backend the GPU orders and connects; small meshes are given to it
// too.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "core/file.h"
#include "grid.h"
#include "support.h"

static kedge_context *host, *ctx;

static int open_contexts(void **state)
{
  kedge_context_options options = {.backend = test_backend(), .device = -1, .threads = 2};
  if (kedge_context_create(&options, &ctx) != KEDGE_OK) return -1;
  *state = NULL;
  options.backend = KEDGE_BACKEND_HOST;
  return kedge_context_create(&options, &host) == KEDGE_OK ? 0 : -1;
}

static int close_contexts(void **state)
{
  (void)state;
  kedge_context_destroy(host);
  kedge_context_destroy(ctx);
  return 0;
}

static bool on_gpu(void)
{
  return ctx->backend == KEDGE_BACKEND_CUDA;
}

static void assert_same(const kedge_mesh *a, const kedge_mesh *b)
{
  assert_same_mesh(a, b);
  assert_int_equal(a->n_boundary_edges, b->n_boundary_edges);
  assert_memory_equal(&a->info, &b->info, sizeof a->info);
}

/// Build twice and compare; returns the parts of the domain.
static int64_t check_raw(const kg_raw_mesh *raw)
{
  kedge_mesh *expected, *mesh;
  assert_ok(host, kg_mesh_build(host, raw, "raw", &expected));
  assert_ok(ctx, kg_mesh_build_on(ctx, raw, "raw", on_gpu(), &mesh));
  assert_same(mesh, expected);
  assert_sound(mesh);
  const int64_t parts = mesh->info.parts;
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(expected);
  return parts;
}

static void irregular_meshes_of_every_size_are_those_of_the_host(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 2, 3, 31, 32, 33, 255, 256, 1000, 20000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i) {
    test_grid grid;
    test_grid_create(&grid, sizes[i]);
    check_raw(&(kg_raw_mesh){.dimension = 2,
                             .n_vertices = grid.n_vertices,
                             .n_elements = grid.n_triangles,
                             .n_lines = grid.n_lines,
                             .vertices = grid.vertices,
                             .width = 3,
                             .corners = grid.triangles,
                             .lines = grid.lines,
                             .line_tags = grid.line_tags});
    test_grid_destroy(&grid);
  }
}

static void generated_and_refined_meshes_are_those_of_the_host(void **state)
{
  (void)state;
  const char *const words[] = {"square 1", "square 61", "quads 31", "ring 9 50", "lshape 23"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i += test_is_quick() ? 3 : 1)
    for (int times = 0; times < (test_is_quick() ? 1 : 3); ++times) {
      kedge_mesh *mesh, *refined;
      kg_raw_mesh raw;
      assert_ok(host, kedge_mesh_generate(host, words[i], &mesh));
      assert_ok(host, kedge_mesh_refine(host, mesh, times, &refined));
      assert_ok(host, kg_mesh_to_raw(host, refined, &raw));
      assert_int_equal(check_raw(&raw), 1);
      kg_raw_mesh_free(&raw);
      kedge_mesh_destroy(refined);
      kedge_mesh_destroy(mesh);
    }
}

static void meshes_of_gmsh_are_those_of_the_host(void **state)
{
  (void)state;
  const char *const names[] = {
      "plate", "slit", "inclusion22", "inclusion41-binary", "inclusion41-parts", "lshape"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i += test_is_quick() ? 3 : 1) {
    char path[512], *data;
    size_t bytes;
    kg_raw_mesh raw;
    snprintf(path, sizeof path, MESHES "%s.msh", names[i]);
    assert_ok(host, kg_file_read(host, path, &data, &bytes));
    assert_ok(host, kg_gmsh_parse(host, path, data, bytes, &raw));
    check_raw(&raw);
    kg_raw_mesh_free(&raw);
    free(data);
  }
}

/// Large enough for the GPU without being told.
static void a_large_generated_mesh_is_that_of_the_host(void **state)
{
  (void)state;
  if (test_is_quick()) skip();
  kedge_mesh *expected, *mesh;
  assert_ok(host, kedge_mesh_generate(host, "square 253", &expected));
  assert_true(expected->n_elements >= KG_GPU_ELEMENTS);
  assert_ok(ctx, kedge_mesh_generate(ctx, "square 253", &mesh));
  assert_same(mesh, expected);
  assert_int_equal(ctx->bytes_in_use, 0);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(expected);
}

/// Triangles that share the vertex 0 alone, or with their neighbours.
static void check_fan(int n, bool closed, int64_t parts)
{
  const int step = closed ? 1 : 2;
  double *vertices = calloc(2 * ((size_t)n * 2 + 1), sizeof *vertices);
  int32_t *triangles = malloc(3 * (size_t)n * sizeof *triangles);
  assert_true(vertices && triangles);
  for (int i = 0; i < 2 * n; ++i) {
    vertices[2 + 2 * i] = cos(acos(-1.0) * i / n);
    vertices[3 + 2 * i] = sin(acos(-1.0) * i / n);
  }
  for (int i = 0; i < n; ++i) {
    triangles[3 * i] = 0;
    triangles[3 * i + 1] = 1 + step * i;
    triangles[3 * i + 2] = 2 + step * i;
  }
  assert_int_equal(check_raw(&(kg_raw_mesh){.dimension = 2,
                                            .n_vertices = 2 * n + 1,
                                            .n_elements = n,
                                            .vertices = vertices,
                                            .width = 3,
                                            .corners = triangles}),
                   parts);
  free(vertices);
  free(triangles);
}

static void fans_at_one_vertex_are_one_part_or_many(void **state)
{
  (void)state;
  check_fan(test_is_quick() ? 2000 : 5000, true, 1);
  check_fan(777, false, 777);
}

static int64_t no_bytes(kedge_context *context)
{
  (void)context;
  return 0;
}

static kedge_status no_room(kedge_context *context, size_t bytes, void **out)
{
  *out = NULL;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room for %zu bytes", bytes);
}

/// One that says so, and one whose memory others take first.
static void a_gpu_without_memory_leaves_the_mesh_to_the_host(void **state)
{
  (void)state;
  const kg_backend_table *table = ctx->table;
  kg_backend_table full = *table, taken = *table;
  full.free_bytes = no_bytes;
  taken.alloc = no_room;
  kedge_mesh *expected, *mesh;
  assert_ok(host, kedge_mesh_generate(host, "square 230", &expected));
  for (int i = 0; i < 2; ++i) {
    ctx->table = i == 0 ? &full : &taken;
    const kedge_status status = kedge_mesh_generate(ctx, "square 230", &mesh);
    ctx->table = table;
    assert_ok(ctx, status);
    assert_same(mesh, expected);
    kedge_mesh_destroy(mesh);
  }
  kedge_mesh_destroy(expected);
}

static void check_refusal(const kg_raw_mesh *raw)
{
  kedge_mesh *mesh;
  char sentence[1024];
  assert_int_equal(kg_mesh_build(host, raw, "raw", &mesh), KEDGE_ERR_INPUT);
  snprintf(sentence, sizeof sentence, "%s", kedge_context_error(host));
  assert_refused(ctx, kg_mesh_build_on(ctx, raw, "raw", on_gpu(), &mesh), KEDGE_ERR_INPUT,
                 sentence);
  assert_null(mesh);
  assert_int_equal(ctx->bytes_in_use, 0);
}

static void vertices_without_a_place_that_no_triangle_uses_are_left_out(void **state)
{
  (void)state;
  double places[2][10] = {{0, 0, 1, 0, NAN, 1, 0, 1, 5, 5}, {0, 0, 1, 0, 1e200, 0, 0, 1, 5, 5}};
  int32_t triangle[] = {0, 1, 3}, line[] = {0, 1}, tag = 4;
  for (int i = 0; i < 2; ++i)
    assert_int_equal(check_raw(&(kg_raw_mesh){.dimension = 2,
                                              .n_vertices = 5,
                                              .n_elements = 1,
                                              .n_lines = 1,
                                              .vertices = places[i],
                                              .width = 3,
                                              .corners = triangle,
                                              .lines = line,
                                              .line_tags = &tag}),
                     1);
}

static void what_the_host_refuses_is_refused_in_the_same_words(void **state)
{
  (void)state;
  double good[] = {0, 0, 1, 0, 1, 1, 0, 1, 5, 5}, nan[] = {0, 0, 1, 0, NAN, 1, 0, 1, 5, 5};
  double huge[] = {0, 0, 1e200, 0, 1, 1, 0, 1, 5, 5}, flat[] = {0, 0, 1, 0, .5, 1e-13, 0, 1, 5, 5};
  double close[] = {0, 0, 1, 0, .5, 1e-12, 0, 1, 5, 5};
  const struct {
    double *vertices;
    int n;
    int32_t triangles[9], line[2];
  } cases[] = {
      {good, 0, {0}, {0, 1}},
      {good, 1, {0, 1, -7}, {0, 1}},
      {good, 1, {0, 1, 5}, {0, 1}},
      {good, 2, {0, 1, 2, 3, 1, 3}, {0, 1}},
      {good, 1, {0, 2, 4}, {0, 2}},
      {flat, 1, {0, 1, 2}, {0, 1}},
      {close, 1, {0, 1, 2}, {0, 1}},
      {nan, 1, {0, 1, 2}, {0, 1}},
      {huge, 1, {0, 1, 3}, {0, 1}},
      {good, 3, {0, 1, 2, 0, 2, 3, 2, 1, 0}, {0, 1}},
      {good, 2, {0, 1, 2, 0, 1, 3}, {0, 1}},
      {good, 3, {0, 1, 2, 0, 1, 3, 0, 1, 4}, {0, 1}},
      {good, 2, {0, 1, 2, 0, 2, 3}, {1, 3}},
      {good, 2, {0, 1, 2, 0, 2, 3}, {4, 99}},
      {good, 2, {0, 1, 2, 0, 2, 3}, {-1, 0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    int32_t triangles[9], line[2], tag = 4;
    memcpy(triangles, cases[i].triangles, sizeof triangles);
    memcpy(line, cases[i].line, sizeof line);
    check_refusal(&(kg_raw_mesh){.dimension = 2,
                                 .n_vertices = 5,
                                 .n_elements = cases[i].n,
                                 .n_lines = 1,
                                 .vertices = cases[i].vertices,
                                 .width = 3,
                                 .corners = triangles,
                                 .lines = line,
                                 .line_tags = &tag});
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(irregular_meshes_of_every_size_are_those_of_the_host),
      cmocka_unit_test(generated_and_refined_meshes_are_those_of_the_host),
      cmocka_unit_test(meshes_of_gmsh_are_those_of_the_host),
      cmocka_unit_test(a_large_generated_mesh_is_that_of_the_host),
      cmocka_unit_test(fans_at_one_vertex_are_one_part_or_many),
      cmocka_unit_test(a_gpu_without_memory_leaves_the_mesh_to_the_host),
      cmocka_unit_test(vertices_without_a_place_that_no_triangle_uses_are_left_out),
      cmocka_unit_test(what_the_host_refuses_is_refused_in_the_same_words),
  };
  return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

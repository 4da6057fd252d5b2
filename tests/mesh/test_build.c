// Arrays to meshes: topology, order, groups.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "support.h"

/// Arrays of a mesh with its numbers and orientations at random; groups as in the original.
typedef struct shuffled {
  kg_raw_mesh raw;
  int32_t *element_at, *vertex_at;  // [new number]: old number
} shuffled;

static shuffled shuffle_mesh(kedge_context *ctx, const kedge_mesh *mesh, uint64_t seed)
{
  kg_raw_mesh old;
  shuffled s = {0};
  assert_ok(ctx, kg_mesh_to_raw(ctx, mesh, &old));
  assert_ok(ctx, kg_raw_mesh_alloc(ctx, 2, old.n_vertices, old.n_elements, 3, old.n_lines, &s.raw));
  assert_ok(ctx, kg_raw_mesh_names(ctx, &s.raw, mesh));
  const int32_t nv = (int32_t)old.n_vertices, ne = (int32_t)old.n_elements;
  s.element_at = malloc((size_t)ne * sizeof *s.element_at);
  s.vertex_at = malloc((size_t)nv * sizeof *s.vertex_at);
  int32_t *vertex_number = malloc((size_t)nv * sizeof *vertex_number);
  shuffle(&seed, s.element_at, ne);
  shuffle(&seed, s.vertex_at, nv);
  for (int32_t v = 0; v < nv; ++v) {
    vertex_number[s.vertex_at[v]] = v;
    memcpy(s.raw.vertices + 2 * v, old.vertices + 2 * s.vertex_at[v], 2 * sizeof(double));
  }
  for (int32_t e = 0; e < ne; ++e) {
    const int32_t *from = old.corners + 3 * s.element_at[e];
    const int first = (int)next_random(&seed, 3), step = 1 + (int)next_random(&seed, 2);
    for (int i = 0; i < 3; ++i)
      s.raw.corners[3 * e + i] = vertex_number[from[(first + i * step) % 3]];
    s.raw.regions[e] = old.regions[s.element_at[e]];
  }
  for (int64_t i = 0; i < old.n_lines; ++i) {
    for (int k = 0; k < 2; ++k) s.raw.lines[2 * i + k] = vertex_number[old.lines[2 * i + k]];
    s.raw.line_tags[i] = old.line_tags[i];
  }
  free(vertex_number);
  kg_raw_mesh_free(&old);
  return s;
}

static void free_shuffled(shuffled *s)
{
  kg_raw_mesh_free(&s->raw);
  free(s->element_at);
  free(s->vertex_at);
}

static void numbering_and_orientation_do_not_matter(void **state)
{
  kedge_context *ctx = *state;
  static const char *const files[] = {"inclusion22.msh", "lshape.msh", "slit.msh"};
  for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
    kedge_mesh *mesh, *other;
    char path[512];
    snprintf(path, sizeof path, MESHES "%s", files[f]);
    assert_ok(ctx, kedge_mesh_read(ctx, path, &mesh));
    assert_sound(mesh);
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      shuffled s = shuffle_mesh(ctx, mesh, seed);
      assert_ok(ctx, kg_mesh_build(ctx, &s.raw, "shuffled", &other));
      assert_sound(other);
      assert_int_equal(other->n_edges, mesh->n_edges);
      assert_true(other->info.turned_elements > 0);
      // The curve depends on centroids alone: the same triangles in the same order.
      for (int32_t e = 0; e < mesh->n_elements; ++e)
        assert_int_equal(s.element_at[other->element_origin[e]], mesh->element_origin[e]);
      for (int i = 0; i < mesh->n_groups; ++i) {
        assert_string_equal(other->groups[i].name, mesh->groups[i].name);
        assert_int_equal(other->groups[i].count, mesh->groups[i].count);
        assert_true(fabs(other->groups[i].measure - mesh->groups[i].measure) <=
                    1e3 * DBL_EPSILON * mesh->groups[i].measure);
      }
      free_shuffled(&s);
      kedge_mesh_destroy(other);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void neighbours_in_the_plane_are_neighbours_in_memory(void **state)
{
  kedge_mesh *mesh, *other;
  assert_ok(*state, kedge_mesh_generate(*state, "square 64", &mesh));
  shuffled s = shuffle_mesh(*state, mesh, 7);
  assert_ok(*state, kg_mesh_build(*state, &s.raw, "shuffled", &other));
  double distance = 0;
  for (int32_t edge = 0; edge < other->n_edges; ++edge) {
    const kg_side *sides = other->edge_sides + 2 * edge;
    const int32_t between = kg_side_element(sides[1]) - kg_side_element(sides[0]);
    if (sides[1] != KG_NO_SIDE) distance += (double)between / other->n_edges;
  }
  // A third of all elements in random order, about their square root on the curve.
  assert_true(distance < 2 * sqrt(other->n_elements));
  free_shuffled(&s);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(other);
}

static void any_number_of_threads_gives_the_same_mesh(void **state)
{
  kedge_context *ctx = *state;
  const int threads = ctx->threads;
  kedge_mesh *meshes[3];
  for (int i = 0; i < 3; ++i) {
    ctx->threads = 1 + 2 * i;
    assert_ok(ctx, kedge_mesh_generate(ctx, "ring 300 113", &meshes[i]));
    assert_int_equal(kg_loop_threads(ctx, meshes[i]->n_elements, 1), ctx->threads);
    if (i > 0) {
      assert_same_mesh(meshes[0], meshes[i]);
      assert_memory_equal(&meshes[0]->info, &meshes[i]->info, sizeof meshes[0]->info);
    }
  }
  ctx->threads = threads;
  for (int i = 0; i < 3; ++i) kedge_mesh_destroy(meshes[i]);
}

static const double square_vertices[] = {0, 0, 1, 0, 1, 1, 0, 1, 5, 5};

static void one_clockwise_triangle_is_turned(void **state)
{
  const int32_t triangle[] = {0, 3, 1};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 5, .vertices = square_vertices, .n_triangles = 1, .triangles = triangle};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->info.turned_elements, 1);
  assert_int_equal(mesh->info.unused_vertices, 2);
  assert_int_equal(mesh->n_edges, 3);
  assert_true(mesh->info.area == 0.5);
  assert_int_equal(group_named(mesh, 1, "default").count, 3);
  assert_int_equal(group_named(mesh, 2, "0").count, 1);
  kedge_mesh_destroy(mesh);
}

static void triangles_that_share_a_vertex_alone_are_no_neighbours(void **state)
{
  const double vertices[] = {0, 0, 1, 0, 1, 1, -1, 0, -1, -1};
  const int32_t triangles[] = {0, 1, 2, 0, 3, 4};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 5, .vertices = vertices, .n_triangles = 2, .triangles = triangles};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->n_boundary_edges, 6);
  kedge_mesh_destroy(mesh);
}

static void a_fan_of_many_triangles_shares_one_vertex(void **state)
{
  enum { N = 1009 };
  double vertices[2 * (N + 1)] = {0};
  int32_t triangles[3 * N];
  for (int32_t i = 0; i < N; ++i) {
    vertices[2 * (i + 1)] = cos(2 * acos(-1.0) * i / N);
    vertices[2 * (i + 1) + 1] = sin(2 * acos(-1.0) * i / N);
    const int32_t v[3] = {0, 1 + i, 1 + (i + 1) % N};
    memcpy(triangles + 3 * i, v, sizeof v);
  }
  const kedge_mesh_arrays arrays = {
      .n_vertices = N + 1, .vertices = vertices, .n_triangles = N, .triangles = triangles};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->n_boundary_edges, N);
  kedge_mesh_destroy(mesh);
}

static void a_slit_has_two_banks(void **state)
{
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_read(*state, MESHES "slit.msh", &mesh));
  assert_true(group_named(mesh, 1, "slit-upper").measure == 0.5);
  assert_true(group_named(mesh, 1, "slit-lower").measure == 0.5);
  assert_int_equal(mesh->n_vertices - mesh->n_edges + mesh->n_elements, 0);
  kedge_mesh_destroy(mesh);
}

/// The unit square in two triangles with named, unnamed, untagged and interior lines.
static const int32_t two[] = {0, 1, 2, 0, 2, 3};

static void lines_make_groups(void **state)
{
  const int32_t lines[] = {1, 0, 1, 2, 0, 2, 2, 3, 1, 0, 1, 1};
  const int32_t tags[] = {9, 4, 9, 9, 4, 0};
  const int32_t name_tags[] = {9, 9};
  const char *const names[] = {"wall", "second name"};
  const int32_t regions[] = {3, 0};
  const kedge_mesh_arrays arrays = {.n_vertices = 4,
                                    .vertices = square_vertices,
                                    .n_triangles = 2,
                                    .triangles = two,
                                    .regions = regions,
                                    .n_lines = 6,
                                    .lines = lines,
                                    .line_tags = tags,
                                    .n_names = 2,
                                    .name_tags = name_tags,
                                    .names = names};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->n_groups, 5);
  assert_int_equal(group_named(mesh, 1, "wall").count,
                   2);  // the first of two lines on an edge counts
  assert_int_equal(group_named(mesh, 1, "wall").tag, 9);
  assert_int_equal(group_named(mesh, 1, "wall").n_inner, 1);
  assert_true(group_named(mesh, 1, "wall").inner_measure == sqrt(2));
  assert_int_equal(group_named(mesh, 1, "4").count, 1);
  assert_int_equal(group_named(mesh, 1, "4").n_inner, 0);
  assert_int_equal(group_named(mesh, 1, "default").count, 1);
  assert_int_equal(group_named(mesh, 2, "3").count, 1);
  assert_int_equal(group_named(mesh, 2, "0").count, 1);
  assert_int_equal(mesh->info.interior_lines, 1);
  kedge_mesh_destroy(mesh);
}

static void signs_of_tags_are_orientations(void **state)
{
  const int32_t lines[] = {0, 1, 1, 2, 2, 3}, tags[] = {-5, 5, -6}, regions[] = {-3, 3};
  const int32_t name_tags[] = {5, -6};
  const char *const names[] = {"wall", "end"};
  const kedge_mesh_arrays arrays = {.n_vertices = 4,
                                    .vertices = square_vertices,
                                    .n_triangles = 2,
                                    .triangles = two,
                                    .regions = regions,
                                    .n_lines = 3,
                                    .lines = lines,
                                    .line_tags = tags,
                                    .n_names = 2,
                                    .name_tags = name_tags,
                                    .names = names};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(group_named(mesh, 1, "wall").count, 2);
  assert_int_equal(group_named(mesh, 1, "end").tag, 6);
  assert_int_equal(group_named(mesh, 2, "3").count, 2);
  kedge_mesh_destroy(mesh);
}

static void equal_names_are_one_group_but_default_is_not_one_with_edges_of_none(void **state)
{
  const int32_t lines[] = {0, 1, 1, 2, 2, 3};
  const int32_t tags[] = {5, 6, 7};
  const int32_t name_tags[] = {5, 6, 7};
  const char *const names[] = {"wall", "wall", "default"};
  const kedge_mesh_arrays arrays = {.n_vertices = 4,
                                    .vertices = square_vertices,
                                    .n_triangles = 2,
                                    .triangles = two,
                                    .n_lines = 3,
                                    .lines = lines,
                                    .line_tags = tags,
                                    .n_names = 3,
                                    .name_tags = name_tags,
                                    .names = names};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->n_groups, 4);
  assert_int_equal(group_named(mesh, 1, "wall").count, 2);
  static const int32_t expected[] = {7, 0};
  for (int g = 1; g < 3; ++g) {
    assert_string_equal(mesh->groups[g].name, "default");
    assert_int_equal(mesh->groups[g].tag, expected[g - 1]);
    assert_int_equal(mesh->groups[g].count, 1);
  }
  kedge_mesh_destroy(mesh);
}

static void info_describes_an_equilateral_triangle(void **state)
{
  const double vertices[] = {-1, 0, 1, 0, 0, sqrt(3)};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 3, .vertices = vertices, .n_triangles = 1, .triangles = two};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  assert_true(fabs(info.min_quality - 1) <= 8 * DBL_EPSILON);
  assert_true(fabs(info.mean_quality - 1) <= 8 * DBL_EPSILON);
  assert_true(fabs(info.min_angle - 60) <= 8 * 60 * DBL_EPSILON);
  assert_true(mesh->alignment <= 8 * DBL_EPSILON);
  assert_true(fabs(info.max_area - sqrt(3)) <= 8 * DBL_EPSILON);
  assert_true(info.min_area == info.max_area && info.area == info.max_area);
  assert_true(info.box[0] == -1 && info.box[1] == 0 && info.box[2] == 1 && info.box[3] == sqrt(3));
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbering_and_orientation_do_not_matter),
      cmocka_unit_test(neighbours_in_the_plane_are_neighbours_in_memory),
      cmocka_unit_test(any_number_of_threads_gives_the_same_mesh),
      cmocka_unit_test(one_clockwise_triangle_is_turned),
      cmocka_unit_test(triangles_that_share_a_vertex_alone_are_no_neighbours),
      cmocka_unit_test(a_fan_of_many_triangles_shares_one_vertex),
      cmocka_unit_test(a_slit_has_two_banks),
      cmocka_unit_test(lines_make_groups),
      cmocka_unit_test(signs_of_tags_are_orientations),
      cmocka_unit_test(equal_names_are_one_group_but_default_is_not_one_with_edges_of_none),
      cmocka_unit_test(info_describes_an_equilateral_triangle),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

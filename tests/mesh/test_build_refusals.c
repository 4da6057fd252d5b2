// Arrays that are no mesh, and the sentence for each.
#include <math.h>
#include <string.h>

#include "kedge/solution.h"
#include "support.h"

static const double square_vertices[] = {0, 0, 1, 0, 1, 1, 0, 1, 5, 5};
static const int32_t two[] = {0, 1, 2, 0, 2, 3};  // the unit square

static void assert_triangles_refused(kedge_context *ctx, const double *vertices, int64_t n_vertices,
                                     const int32_t *triangles, int64_t n, const char *sentence)
{
  const kedge_mesh_arrays arrays = {
      .n_vertices = n_vertices, .vertices = vertices, .n_triangles = n, .triangles = triangles};
  kedge_mesh *mesh;
  const kedge_status status = kedge_mesh_create(ctx, &arrays, &mesh);
  assert_null(mesh);
  assert_refused(ctx, status, KEDGE_ERR_INPUT, sentence);
}

static void impossible_triangles_are_refused(void **state)
{
  kedge_context *ctx = *state;
  const double *v = square_vertices;
  assert_triangles_refused(ctx, v, 5, two, 0, "arrays: the mesh has no elements");
  assert_triangles_refused(
      ctx, v, 3, two, 2,
      "arrays: triangle 1 (from 0) with corners (0, 0), (1, 1) uses vertices 0, "
      "2, 3, but vertices are numbered from 0 to 2");
  assert_triangles_refused(
      ctx, v, 5, (int32_t[]){0, 1, -7}, 1,
      "arrays: triangle 0 (from 0) with corners (0, 0), (1, 0) uses vertices 0, "
      "1, -7, but vertices are numbered from 0 to 4");
  assert_triangles_refused(ctx, v, 5, (int32_t[]){0, 1, 2, 3, 1, 3}, 2,
                           "arrays: triangle 1 (from 0) with corners (0, 1), (1, 0), (0, 1) is "
                           "degenerate: it uses a vertex twice; remove it from the mesh");
  assert_triangles_refused(ctx, v, 5, (int32_t[]){0, 2, 4}, 1,
                           "arrays: triangle 0 (from 0) with corners (0, 0), (1, 1), (5, 5) is "
                           "degenerate: it has no area; remove it or move its vertices");
  const double flat[] = {0, 0, 1, 0, 0.5, 1e-13};
  assert_triangles_refused(
      ctx, flat, 3, (int32_t[]){0, 1, 2}, 1,
      "arrays: triangle 0 (from 0) with corners (0, 0), (1, 0), (0.5, 1e-13) is "
      "degenerate: it has no area; remove it or move its vertices");
}

static void thin_triangles_are_accepted(void **state)
{
  const double thin[] = {0, 0, 1, 0, 0.5, 1e-9};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 3, .vertices = thin, .n_triangles = 1, .triangles = two};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_sound(mesh);
  kedge_mesh_destroy(mesh);
}

static void triangles_that_collide_are_refused(void **state)
{
  kedge_context *ctx = *state;
  const double *v = square_vertices;
  assert_triangles_refused(
      ctx, v, 5, (int32_t[]){0, 1, 2, 0, 2, 3, 2, 1, 0}, 3,
      "arrays: triangle 0 (from 0) with corners (0, 0), (1, 0), (1, 1) and "
      "triangle 2 (from 0) with corners (1, 1), (1, 0), (0, 0) are duplicates: "
      "they have the same vertices; repair the mesh");
  assert_triangles_refused(
      ctx, v, 5, (int32_t[]){0, 1, 2, 0, 1, 3}, 2,
      "arrays: triangle 0 (from 0) with corners (0, 0), (1, 0), (1, 1) and "
      "triangle 1 (from 0) with corners (0, 0), (1, 0), (0, 1) lie on the same "
      "side of their common edge (the mesh is folded); repair the mesh");
  const double book[] = {0, 0, 1, 0, 0, 1, 0, -1, 1, 1};
  assert_triangles_refused(ctx, book, 5, (int32_t[]){0, 1, 2, 0, 1, 3, 0, 1, 4}, 3,
                           "arrays: triangle 0 (from 0) with corners (0, 0), (1, 0), (0, 1) and "
                           "triangle 1 (from 0) with corners (0, 0), (1, 0), (0, -1) share an edge "
                           "with a third triangle, and an edge has two at most; repair the mesh");
}

static void coordinates_that_are_not_finite_are_refused(void **state)
{
  const double bad[] = {0, 0, 1, 0, NAN, 1};
  assert_triangles_refused(*state, bad, 3, two, 1,
                           "arrays: vertex 2 (from 0) has the coordinates (nan, 1); they must be "
                           "finite and below 1e150");
  const double large[] = {0, 0, 1e200, 0, 0, 1e200};
  assert_triangles_refused(
      *state, large, 3, two, 1,
      "arrays: vertex 1 (from 0) has the coordinates (1e+200, 0); they must be "
      "finite and below 1e150");
}

static void a_tagged_line_beside_the_mesh_is_refused(void **state)
{
  kedge_mesh *mesh;
  const int32_t tag = 4;
  const char *const name = "wall";
  kedge_mesh_arrays arrays = {.n_vertices = 5,
                              .vertices = square_vertices,
                              .n_triangles = 2,
                              .triangles = two,
                              .n_lines = 1,
                              .lines = (int32_t[]){1, 3},
                              .line_tags = &tag};
  assert_refused(*state, kedge_mesh_create(*state, &arrays, &mesh), KEDGE_ERR_INPUT,
                 "arrays: the line from (1, 0) to (0, 1) of boundary group 4 is no edge of any "
                 "triangle; join the meshes at their interface or take the line out of the group");
  arrays.lines = (int32_t[]){4, 99};
  arrays.n_names = 1;
  arrays.name_tags = &tag;
  arrays.names = &name;
  assert_refused(
      *state, kedge_mesh_create(*state, &arrays, &mesh), KEDGE_ERR_INPUT,
      "arrays: the line from (5, 5) to (no vertex 99) of boundary group 4 \"wall\" is no "
      "edge of any triangle; join the meshes at their interface or take the line out of "
      "the group");
  arrays.line_tags = (int32_t[]){0};  // without a group it says nothing
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  kedge_mesh_destroy(mesh);
}

/// Two squares side by side, of which the right one has its left edge in parts.
static void a_hanging_node_is_refused(void **state)
{
  kedge_context *ctx = *state;
  const double v[] = {0, 0, 3, 0, 3, 3, 0, 3, 6, 0, 6, 3, 3, 1, 3, 2.0000001};
  const int32_t halves[] = {0, 1, 2, 0, 2, 3, 1, 4, 6, 6, 4, 5, 6, 5, 2};
  const char *sentence =
      "arrays: the vertex at (3, 1) lies on an edge of triangle 0 (from 0) with corners (0, 0), "
      "(3, "
      "0), (3, 3), and is no corner of it (a hanging node); split that triangle, or, if both sides "
      "are boundary, give their edges a physical group";
  assert_triangles_refused(ctx, v, 8, halves, 5, sentence);
  const int32_t thirds[] = {0, 1, 2, 0, 2, 3, 1, 4, 6, 6, 4, 5, 6, 5, 7, 7, 5, 2};
  kedge_mesh *mesh;
  kedge_mesh_arrays arrays = {
      .n_vertices = 8, .vertices = v, .n_triangles = 6, .triangles = thirds};
  assert_int_equal(kedge_mesh_create(ctx, &arrays, &mesh), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "(a hanging node)"));
  arrays.n_lines = 1;  // a group says that it is meant
  arrays.lines = (int32_t[]){1, 2};
  arrays.line_tags = (int32_t[]){4};
  assert_ok(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  kedge_mesh_destroy(mesh);
}

/// The two sides of the slit have the same vertices, or the angle of nearly zero is inside.
static void slits_and_thin_wedges_are_no_hanging_nodes(void **state)
{
  kedge_context *ctx = *state;
  const double cut[] = {0, 0, 2, -1, 2, 0, 2, 0, 2, 1, -2, 1, -2, -1};
  const int32_t around[] = {0, 1, 2, 0, 3, 4, 0, 4, 5, 0, 5, 6, 0, 6, 1};
  const double wedge[] = {0, 0, 1, 0, 1, 1e-7, 2, 1e-7, 2, 3e-7};
  const int32_t inside[] = {0, 1, 2, 1, 3, 2, 2, 3, 4};
  const kedge_mesh_arrays arrays[] = {
      {.n_vertices = 7, .vertices = cut, .n_triangles = 5, .triangles = around},
      {.n_vertices = 5, .vertices = wedge, .n_triangles = 3, .triangles = inside}};
  for (int i = 0; i < 2; ++i) {
    kedge_mesh *mesh;
    assert_ok(ctx, kedge_mesh_create(ctx, &arrays[i], &mesh));
    kedge_mesh_destroy(mesh);
  }
}

static void inconsistent_arrays_are_refused(void **state)
{
  const kedge_mesh_arrays good = {
      .n_vertices = 4, .vertices = square_vertices, .n_triangles = 2, .triangles = two};
  kedge_mesh_arrays a[9];
  for (size_t i = 0; i < 9; ++i) a[i] = good;
  a[0].n_triangles = -1;
  a[1].vertices = NULL;
  a[2].n_lines = 1;
  a[3].n_names = 1;
  a[4].regions = (int32_t[]){1, INT32_MIN};
  a[5].n_lines = 1, a[5].lines = two, a[5].line_tags = (int32_t[]){INT32_MIN};
  a[6].n_names = 1, a[6].name_tags = (int32_t[]){0}, a[6].names = (const char *[]){"x"};
  a[7].n_names = 1, a[7].name_tags = (int32_t[]){1}, a[7].names = (const char *[]){""};
  a[8].n_names = 1, a[8].name_tags = (int32_t[]){1}, a[8].names = (const char *[]){"a\nb"};
  static const char *const sentences[9] = {
      "kedge_mesh_create: a count is negative",
      "kedge_mesh_create: vertices or triangles is NULL",
      "kedge_mesh_create: lines or line_tags is NULL although n_lines is not 0",
      "kedge_mesh_create: names or name_tags is NULL although n_names is not 0",
      "kedge_mesh_create: regions[1] is -2147483648, which is no tag",
      "kedge_mesh_create: line_tags[0] is -2147483648, which is no tag",
      "kedge_mesh_create: name_tags[0] is 0, which is no group",
      "kedge_mesh_create: names[0] is NULL or empty",
      "kedge_mesh_create: names[0] holds a quotation mark or a line end",
  };
  kedge_mesh *mesh;
  for (size_t i = 0; i < 9; ++i)
    assert_refused(*state, kedge_mesh_create(*state, &a[i], &mesh), KEDGE_ERR_ARG, sentences[i]);
}

/// Counts whose products with sizes of what is made of them leave 64 bits.
static void counts_are_refused_before_they_are_multiplied(void **state)
{
  const kedge_mesh_arrays good = {
      .n_vertices = 4, .vertices = square_vertices, .n_triangles = 2, .triangles = two};
  static const int64_t huge[] = {INT64_MAX, INT64_MAX / 82 + 1, (int64_t)1 << 31, 1 << 30};
  for (size_t i = 0; i < sizeof huge / sizeof *huge; ++i)
    for (int which = 0; which < (huge[i] > INT32_MAX ? 3 : 1); ++which) {
      kedge_mesh_arrays a = good;
      a.lines = a.line_tags = two;
      *(which == 0 ? &a.n_triangles : which == 1 ? &a.n_vertices : &a.n_lines) = huge[i];
      kedge_mesh *mesh;
      assert_int_equal(kedge_mesh_create(*state, &a, &mesh), KEDGE_ERR_INPUT);
      assert_non_null(strstr(kedge_context_error(*state), "are more than kedge can number"));
    }
  kedge_locator *locator;
  kedge_mesh *mesh;
  const double *kept;
  assert_ok(*state, kedge_mesh_create(*state, &good, &mesh));
  assert_ok(*state, kedge_locator_create(*state, mesh, &locator));
  for (size_t i = 0; i < 2; ++i)
    assert_int_equal(kedge_locator_keep(locator, huge[i], square_vertices, &kept),
                     KEDGE_ERR_MEMORY);
  kedge_locator_destroy(locator);
  kedge_mesh_destroy(mesh);
  assert_int_equal(kedge_node_count(2), 6);
  assert_int_equal(kedge_node_count(INT32_MAX), 0);
  assert_int_equal(kedge_node_count(-1), 0);
}

static void vertices_of_no_triangle_may_be_anything(void **state)
{
  const double v[] = {NAN, 1, 0, 0, 1, 0, 1e300, -INFINITY, 1, 1, 0, 1, NAN, NAN};
  const int32_t triangles[] = {1, 2, 4, 1, 4, 5};
  kedge_mesh_arrays arrays = {
      .n_vertices = 7, .vertices = v, .n_triangles = 2, .triangles = triangles};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_true(mesh->info.area == 1.0);
  assert_int_equal(mesh->info.unused_vertices, 3);
  kedge_mesh_destroy(mesh);
  assert_triangles_refused(*state, v, 7, (int32_t[]){1, 2, 4, 1, 6, 5}, 2,
                           "arrays: vertex 6 (from 0) has the coordinates (nan, nan); they must be "
                           "finite and below 1e150");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impossible_triangles_are_refused),
      cmocka_unit_test(thin_triangles_are_accepted),
      cmocka_unit_test(triangles_that_collide_are_refused),
      cmocka_unit_test(coordinates_that_are_not_finite_are_refused),
      cmocka_unit_test(a_tagged_line_beside_the_mesh_is_refused),
      cmocka_unit_test(a_hanging_node_is_refused),
      cmocka_unit_test(slits_and_thin_wedges_are_no_hanging_nodes),
      cmocka_unit_test(counts_are_refused_before_they_are_multiplied),
      cmocka_unit_test(vertices_of_no_triangle_may_be_anything),
      cmocka_unit_test(inconsistent_arrays_are_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

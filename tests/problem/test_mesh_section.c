// The mesh of a problem: generated, refined, moved; and what its refusals name.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static void the_mesh_is_generated_and_refined(void **state)
{
  const fixture *f = *state;
  kedge_mesh *mesh;
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  set(f, "mesh", "file", "nowhere.msh");
  set(f, "mesh", "generate", "square 3");
  set(f, "mesh", "refine", "1");
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_OK);
  kedge_mesh_get_info(mesh, &info);
  assert_int_equal(info.elements, 2 * 3 * 3 * 4);
  kedge_mesh_destroy(mesh);
}

/// The mesh of a problem with these values; NULL leaves a key out.
static kedge_mesh_info info_of(fixture *f, const char *words, const char *geometry, const char *map)
{
  kedge_problem *p;
  kedge_mesh *mesh;
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  assert_int_equal(kedge_problem_create(f->ctx, &p), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "mesh", "generate", words), KEDGE_OK);
  if (geometry) assert_int_equal(kedge_problem_set(p, "mesh", "geometry", geometry), KEDGE_OK);
  if (map) assert_int_equal(kedge_problem_set(p, "mesh", "map", map), KEDGE_OK);
  assert_int_equal(kedge_problem_mesh(p, &mesh), KEDGE_OK);
  kedge_mesh_get_info(mesh, &info);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(p);
  return info;
}

static void the_nodes_of_the_mesh_are_moved(void **state)
{
  fixture *f = *state;
  const double pi = acos(-1.0);
  kedge_mesh_info info = info_of(f, "disk 2", NULL, NULL);
  assert_int_equal(info.geometry, 1);
  info = info_of(f, "disk 2", "5", NULL);
  assert_int_equal(info.geometry, 5);
  assert_true(fabs(info.area - pi) < 1e-6);
  info = info_of(f, "disk 2", "4", "3*x - y, y");
  assert_int_equal(info.geometry, 4);
  assert_true(fabs(info.area - 3 * pi) < 1e-4);
  info = info_of(f, "quads 8", "3", "(1 + x)*cos(pi*y/2), (1 + x)*sin(pi*y/2)");
  assert_int_equal(info.geometry, 3);
  assert_true(fabs(info.area - 0.75 * pi) < 1e-5);
  info = info_of(f, "quads 2", NULL, "2*x, atan2(y, 1)");
  assert_int_equal(info.geometry, 1);
  assert_true(fabs(info.area - 0.5 * pi) < 1e-14);
}

static void maps_that_are_none_are_refused(void **state)
{
  static const char *const cases[][2] = {
      {"x", "map is two expressions, X, Y, or in space three, X, Y, Z; not 1"},
      {"x, y, z, 0", "map is two expressions, X, Y, or in space three, X, Y, Z; not 4"},
      {"x, y + z", "map names z, of which there is none in X, Y alone"},
      {"x, y + region", "map cannot depend on region: nodes lie between regions"},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(kedge_problem_set(f->problem, "mesh", "map", cases[i][0]), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(f->ctx), cases[i][1]));
  }
  kedge_mesh *mesh;
  set(f, "mesh", "generate", "square 1");
  set(f, "mesh", "map", "-x, y");
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_ERR_INPUT);
  assert_ptr_equal(strstr(kedge_context_error(f->ctx),
                          "[mesh] map: square 1: the map folds or flattens a triangle at"),
                   kedge_context_error(f->ctx));
}

static void tetrahedra_are_moved_in_three_coordinates(void **state)
{
  fixture *f = *state;
  kedge_mesh_info info = info_of(f, "cube 3", NULL, "2*x + y^2, y + 0.1*x*z, 3*z - x");
  assert_int_equal(info.dimension, 3);
  assert_int_equal(info.elements, 162);
  assert_true(info.low[0] == 0.0 && info.high[0] == 3.0);
  assert_true(info.low[2] == -1.0 && info.high[2] == 3.0);
  info = info_of(f, "cube 2", NULL, "y + 1, z, 2*x");  // 2 x 1 x 1, turned
  assert_true(fabs(info.area - 2.0) < 1e-14);
  assert_true(info.low[0] == 1.0 && info.high[2] == 2.0);
  static const char *const cases[][3] = {
      {"cube 1", "x, y", "cube 1 is a mesh in space: write X, Y, Z"},
      {"square 1", "x, y, 0", "square 1 is a mesh of the plane: write X, Y"},
      {"cube 1", "y, x, z",
       "cube 1: the map folds or flattens a tetrahedron with a corner at (0, 0, 0): the "
       "determinant "
       "of the map must be positive everywhere; where it mirrors, swap two of X, Y and Z, and "
       "where "
       "it bends much, take a finer mesh"},
      {"cube 2", "x, y, 0", "cube 2: the map folds or flattens a tetrahedron with a corner at"},
      {"cube 1", "x, y, 1/(z - 1)",
       "cube 1: the map takes (0, 0, 1) to (0, 0, inf); coordinates must be finite and below "
       "1e100"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh;
    char place[256];
    set(f, "mesh", "generate", cases[i][0]);
    set(f, "mesh", "map", cases[i][1]);
    assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_ERR_INPUT);
    assert_null(mesh);
    snprintf(place, sizeof place, "[mesh] map: %s", cases[i][2]);
    assert_ptr_equal(strstr(kedge_context_error(f->ctx), place), kedge_context_error(f->ctx));
  }
}

static void curved_tetrahedra_are_refused_with_or_without_a_map(void **state)
{
  fixture *f = *state;
  kedge_mesh *mesh;
  set(f, "mesh", "generate", "cube 1");
  set(f, "mesh", "geometry", "2");
  for (int moves = 0; moves < 2; ++moves) {
    if (moves) set(f, "mesh", "map", "x, y, z");
    assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_ERR_INPUT);
    assert_null(mesh);
    assert_string_equal(kedge_context_error(f->ctx),
                        "[mesh] geometry: cube 1 is of tetrahedra, which are straight: leave "
                        "geometry out");
  }
  set(f, "mesh", "geometry", "1");
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_OK);
  kedge_mesh_destroy(mesh);
}

static void a_mesh_that_fails_says_where_it_is_asked_for(void **state)
{
  const fixture *f = *state;
  kedge_mesh *mesh;
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_ERR_INPUT);
  assert_null(mesh);
  assert_string_equal(kedge_context_error(f->ctx),
                      "the problem names no mesh: add file = NAME.msh or generate = square 40 to "
                      "[mesh]");
  set(f, "mesh", "generate", "hexagon 3");
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_ERR_INPUT);
  assert_ptr_equal(strstr(kedge_context_error(f->ctx), "[mesh] generate: "),
                   kedge_context_error(f->ctx));
  kedge_problem *p;
  static const char text[] = "[mesh]\nfile = none.msh\n";
  assert_int_equal(
      kg_problem_parse(f->ctx, "some/folder/a.ini", text, sizeof text - 1, NULL, 0, &p), KEDGE_OK);
  assert_int_equal(kedge_problem_mesh(p, &mesh), KEDGE_ERR_IO);
  assert_string_equal(kedge_context_error(f->ctx),
                      "some/folder/a.ini:2: cannot open some/folder/none.msh: No such file or "
                      "directory; the path is relative to the problem file");
  assert_string_equal(kedge_problem_mesh_file(p), "some/folder/none.msh");
  assert_int_equal(kedge_problem_set(p, "mesh", "file", "/nowhere/none.msh"), KEDGE_OK);
  assert_int_equal(kedge_problem_mesh(p, &mesh), KEDGE_ERR_IO);
  assert_null(strstr(kedge_context_error(f->ctx), "some/folder"));
  kedge_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(the_mesh_is_generated_and_refined),
      FIXTURE_TEST(the_nodes_of_the_mesh_are_moved),
      FIXTURE_TEST(maps_that_are_none_are_refused),
      FIXTURE_TEST(tetrahedra_are_moved_in_three_coordinates),
      FIXTURE_TEST(curved_tetrahedra_are_refused_with_or_without_a_map),
      FIXTURE_TEST(a_mesh_that_fails_says_where_it_is_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

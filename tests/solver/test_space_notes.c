// What the note of a solve on tetrahedra says: the findings of the plane, with z in their places.
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

#define ZERO_AROUND                          \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "0"         \
  }

/// Unit cubes of six tetrahedra along x, the k-th of region k + 1.
typedef struct row {
  int n_vertices, n_tetrahedra;
  double vertices[64][3];
  int32_t tetrahedra[64][4], regions[64];
} row;

/// @param[in] apart  each has vertices of its own
/// @param[in] off    what the second and the next are moved by, beside their place
static kedge_mesh *cubes(int n, bool apart, const double off[3])
{
  static const int path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  row r = {0};
  for (int k = 0; k < n; ++k) {
    int32_t vertex[8];
    for (int c = 0; c < 8; ++c) {
      if (!apart && k > 0 && c % 2 == 0) continue;
      vertex[c] = r.n_vertices;
      double *const at = r.vertices[r.n_vertices++];
      for (int i = 0; i < 3; ++i) at[i] = (c >> i) % 2 + (k > 0 ? off[i] : 0.0);
      at[0] += k;
    }
    for (int c = 0; c < 8 && !apart && k > 0; c += 2) {
      // The right side of the cube before has the odd vertices of the first, or the four that a
      // later one adds.
      const int32_t before = k == 1 ? c + 1 : 8 + 4 * (k - 2) + c / 2;
      vertex[c] = before;
    }
    for (int t = 0; t < 6; ++t) {
      const int32_t corners[4] = {vertex[0], vertex[path[t][0]], vertex[path[t][1]], vertex[7]};
      r.regions[r.n_tetrahedra] = k + 1;
      memcpy(r.tetrahedra[r.n_tetrahedra++], corners, sizeof corners);
    }
  }
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  arrays.n_vertices = r.n_vertices;
  arrays.vertices = r.vertices[0];
  arrays.n_tetrahedra = r.n_tetrahedra;
  arrays.tetrahedra = r.tetrahedra[0];
  arrays.regions = r.regions;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
  return mesh;
}

static void assert_says(const char *note, const char *words)
{
  if (!strstr(note, words)) fail_msg("\"%s\" is not in \"%s\"", words, note);
}

static void findings_of_the_plane_are_those_of_space(void **state)
{
  static const struct {
    const char *words;
    setting settings[8];
  } cases[] = {
      {"the source that is given differs by 1.0e+00 from -div(diffusion grad u)",
       {{"equation", "source", "1"},
        {"exact", "u", "sin(x)*y*z"},
        {"boundary default", "type", "dirichlet"}}},
      {"diffusion grad u . n of [exact] jumps near x = ",
       {{"equation", "source", "0"},
        {"exact", "u", "abs(z-0.4)+x*y"},
        {"boundary default", "type", "dirichlet"}}},
      {"u of [exact] jumps near x = ",
       {{"equation", "source", "0"},
        {"exact", "u", "z<0.5?x:y"},
        {"boundary default", "type", "dirichlet"}}},
      {"on boundary 'z1' the value that is given differs by ",
       {{"exact", "u", "x+y*z"},
        {"boundary default", "type", "dirichlet"},
        {"boundary z1", "type", "neumann"},
        {"boundary z1", "value", "x"}}},
      {"the robin coefficient is up to 5e+11 times diffusion / h",
       {{"equation", "source", "1"},
        {"boundary default", "type", "robin"},
        {"boundary default", "coefficient", "1e12"},
        {"boundary default", "value", "0"}}},
      {"on boundary 'z1' the robin coefficient is as small as -0.1",
       {{"equation", "source", "1"},
        ZERO_AROUND,
        {"boundary z1", "type", "robin"},
        {"boundary z1", "coefficient", "-0.1"},
        {"boundary z1", "value", "1"}}},
      {"no expression uses 'a' of [parameters]",
       {{"parameters", "a", "2"}, {"equation", "source", "1"}, ZERO_AROUND}},
      {"[space] quadrature has no effect",
       {{"space", "quadrature", "5"}, {"equation", "source", "1"}, ZERO_AROUND}},
      {"[space] inverse is used by no element: tetrahedra have formulas of their own",
       {{"space", "inverse", "exact"}, {"equation", "source", "1"}, ZERO_AROUND}},
      {"the right-hand side is 0: the problem has neither a source nor an exact solution",
       {{"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}}},
      {"all boundaries are neumann or robin and (reaction + coefficient * boundary / volume) * h^2 "
       "is only ",
       {{"boundary default", "type", "robin"},
        {"boundary default", "coefficient", "1e-9"},
        {"boundary default", "value", "3e-9"}}},
      {"all boundaries are neumann and reaction * h^2 is only ",
       {{"equation", "reaction", "1e-7"},
        {"equation", "source", "1e-7"},
        {"boundary default", "type", "neumann"},
        {"boundary default", "value", "0"}}},
      {"the error of u* may be what ",
       {{"exact", "u", "x^2-y*z"}, {"boundary default", "type", "dirichlet"}}},
      {"u* is between ",
       {{"equation", "reaction", "1e6"},
        {"equation", "source", "1"},
        {"boundary default", "type", "dirichlet"},
        {"boundary default", "value", "1"}}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const setting *const s = cases[i].settings;
    setting all[10] = {{"space", "order", "2"}};
    memcpy(all + 1, s, sizeof cases[i].settings);
    assert_says(report_on(ctx, "cube 2", all).solver_note, cases[i].words);
  }
}

static void a_problem_without_faults_has_no_note(void **state)
{
  (void)state;
  const kedge_report r = report_on(
      ctx, "cube 4",
      SETTINGS({"space", "order", "2"}, {"space", "quadrature", "5"},
               {"equation", "diffusion", "1+x*z"}, {"equation", "reaction", "1"},
               {"exact", "u", "sin(x+y)*exp(z)"}, {"boundary default", "type", "dirichlet"},
               {"boundary z1", "type", "robin"}, {"boundary z1", "coefficient", "2"}));
  assert_string_equal(r.solver_note, "");
}

static void a_flux_that_jumps_between_regions_is_noted(void **state)
{
  (void)state;
  const double none[3] = {0.0, 0.0, 0.0};
  kedge_mesh *const mesh = cubes(2, false, none);
  const setting settings[] = {{"equation", "diffusion", "region==1?1:3"},
                              {"exact", "u", "x+y+z"},
                              {"boundary default", "type", "dirichlet"},
                              {0}};
  assert_says(report_of(ctx, mesh, settings).solver_note,
              "diffusion grad u . n of [exact] jumps by 2.0e+00 between regions '1' and '2'");
  kedge_mesh_destroy(mesh);
}

static kedge_mesh_info info_of(const kedge_mesh *mesh)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  return info;
}

static void faces_that_coincide_are_counted_and_noted(void **state)
{
  static const double offs[][3] = {{0.0, 0.0, 0.0}, {1e-12, -1e-11, 0.0}, {-1e-7, 1e-7, 1e-7}};
  (void)state;
  for (size_t i = 0; i < sizeof offs / sizeof *offs; ++i) {
    kedge_mesh *const mesh = cubes(2, true, offs[i]);
    const kedge_mesh_info info = info_of(mesh);
    assert_int_equal(info.parts, 2);
    assert_int_equal(info.coincident_edges, 4);
    assert_int_equal(info.overlapping_edges, 0);
    assert_true(info.coincident_at[0] > 0.999 && info.coincident_at[0] < 1.001);
    assert_true(info.coincident_z > 0.1 && info.coincident_z < 0.9);
    const setting settings[] = {{"equation", "source", "1"}, ZERO_AROUND, {0}};
    const char *const note = report_of(ctx, mesh, settings).solver_note;
    assert_says(note, "4 boundary faces lie on others and are not joined, as at (1, ");
    assert_says(note, "nothing passes there; mesh both sides with common vertices");
    kedge_mesh_destroy(mesh);
  }
}

static void faces_that_do_not_coincide_are_not_counted(void **state)
{
  static const double none[3] = {0.0, 0.0, 0.0}, gap[3] = {1e-3, 0.0, 0.0};
  (void)state;
  kedge_mesh *const meshes[2] = {cubes(2, true, gap), cubes(3, false, none)};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(info_of(meshes[i]).coincident_edges, 0);
    assert_int_equal(info_of(meshes[i]).overlapping_edges, 0);
    kedge_mesh_destroy(meshes[i]);
  }
}

static void a_cube_that_is_there_twice_is_noted(void **state)
{
  const double back[3] = {-1.0, 0.0, 0.0};
  (void)state;
  kedge_mesh *const mesh = cubes(2, true, back);
  const kedge_mesh_info info = info_of(mesh);
  assert_int_equal(info.coincident_edges, 0);
  assert_int_equal(info.overlapping_edges, 24);
  const setting settings[] = {{"equation", "source", "1"}, ZERO_AROUND, {0}};
  assert_says(report_of(ctx, mesh, settings).solver_note, "volume counts twice there");
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findings_of_the_plane_are_those_of_space),
      cmocka_unit_test(a_problem_without_faults_has_no_note),
      cmocka_unit_test(a_flux_that_jumps_between_regions_is_noted),
      cmocka_unit_test(faces_that_coincide_are_counted_and_noted),
      cmocka_unit_test(faces_that_do_not_coincide_are_not_counted),
      cmocka_unit_test(a_cube_that_is_there_twice_is_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

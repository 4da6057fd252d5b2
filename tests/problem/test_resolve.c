// Problem meets mesh: groups by name and number, default, data derived from the exact solution.
// Most of it are refusals and their sentences, hence its length.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "mesh/mesh.h"
#include "problem/problem.h"

/// The groups of a mesh, and its area, are all that resolving looks at where it has one part.
static kg_group groups[] = {
    {.name = "left", .tag = 1, .dimension = 1, .count = 10},
    {.name = "right", .tag = 2, .dimension = 1, .count = 12},
    {.name = "7", .tag = 7, .dimension = 1, .count = 1},
    {.name = "crack", .tag = 8, .dimension = 1, .n_inner = 3},
    {.name = "default", .tag = 0, .dimension = 1, .count = 4},
    {.name = "steel", .tag = 1, .dimension = 2, .count = 50},
};
enum { LEFT, RIGHT, SEVEN, CRACK, DEFAULT, STEEL, N_GROUPS };
static kedge_mesh mesh = {.dimension = 2,
                          .n_groups = N_GROUPS,
                          .groups = groups,
                          .source = "plate.msh",
                          .info = {.area = 1.0}};

static kedge_problem *parsed(const char *text)
{
  kedge_problem *p;
  if (kg_problem_parse(NULL, "plate.ini", text, strlen(text), NULL, 0, &p) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(NULL));
  return p;
}

/// Why the groups of the mesh and this text do not go together.
static void assert_refused(const char *text, const char *sentence)
{
  kedge_problem *p = parsed(text);
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL), sentence);
  assert_null(r.boundaries);
  kedge_problem_destroy(p);
}

static double at(const kg_function *f, double x, double y)
{
  double value;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y}, &value);
  return value;
}

static void names_come_before_numbers_and_default_takes_the_rest(void **state)
{
  (void)state;
  kedge_problem *p = parsed(
      "[boundary default]\ntype = dirichlet\nvalue = 3\n"
      "[boundary left]\ntype = neumann\nvalue = 1\n"
      "[boundary 2]\ntype = neumann\nvalue = 2\n");
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_OK);
  assert_true(at(r.boundaries[LEFT].value, 0, 0) == 1);
  assert_true(at(r.boundaries[RIGHT].value, 0, 0) == 2);
  assert_true(at(r.boundaries[SEVEN].value, 0, 0) == 3);
  assert_true(at(r.boundaries[DEFAULT].value, 0, 0) == 3);
  assert_int_equal(r.boundaries[LEFT].type, KEDGE_BOUNDARY_NEUMANN);
  assert_int_equal(r.boundaries[DEFAULT].type, KEDGE_BOUNDARY_DIRICHLET);
  assert_int_equal(r.equation.source.kind, KG_FUNCTION_NONE);
  kg_resolved_free(&r);
  kedge_problem_destroy(p);
}

#define OTHERS                                                                            \
  "[boundary left]\ntype=dirichlet\nvalue=0\n[boundary right]\ntype=dirichlet\nvalue=0\n" \
  "[boundary 7]\ntype=dirichlet\nvalue=0\n"

static void what_does_not_fit_the_mesh_is_refused(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {OTHERS,
       "4 boundary edges of plate.msh without a group have no condition; add [boundary default]"},
      {OTHERS "[mesh]\nfile=plate.msh\n",
       "plate.ini:11: 4 boundary edges of plate.msh without a group have no condition; add "
       "[boundary default]"},
      {"[mesh]\nrefine=1\ngenerate=square 4\n[boundary left]\ntype=dirichlet\nvalue=0\n",
       "plate.ini:3: boundary group 'right' of plate.msh (12 edges) has no condition; add "
       "[boundary "
       "right] or [boundary default]"},
      {"[boundary left]\ntype=dirichlet\nvalue=0\n[boundary right]\ntype=dirichlet\nvalue=0\n",
       "boundary group '7' of plate.msh (1 edge) has no condition; add [boundary 7] or [boundary "
       "default]"},
      {"[boundary lefft]\ntype=dirichlet\n",
       "plate.ini:2: [boundary lefft]: plate.msh has no boundary group 'lefft' among left (1), "
       "right (2), 7, default; did you mean 'left'?"},
      {"[boundary 5]\ntype=dirichlet\n",
       "plate.ini:2: [boundary 5]: plate.msh has no boundary group '5' among left (1), right (2), "
       "7, default"},
      {"[boundary steel]\ntype=dirichlet\n",
       "plate.ini:2: [boundary steel]: 'steel' in plate.msh is a group of elements, not of "
       "boundary "
       "edges"},
      {OTHERS "[boundary default]\ntype=dirichlet\nvalue=x+z\n",
       "plate.ini:12: value names z, and plate.msh is a mesh of the plane: write it in x and y"},
      {"[equation]\ndiffusion=1+z^2\n",
       "plate.ini:2: diffusion names z, and plate.msh is a mesh of the plane: write it in x and y"},
      {"[equation]\ndiffusion=1\n[region steel]\nsource=z\n",
       "plate.ini:4: source names z, and plate.msh is a mesh of the plane: write it in x and y"},
      {"[exact]\nu=x*z\n",
       "plate.ini:2: exact u names z, and plate.msh is a mesh of the plane: write it in x and y"},
      {"[boundary crack]\ntype=dirichlet\n",
       "plate.ini:2: [boundary crack]: 'crack' in plate.msh is a group of lines inside the domain, "
       "where there are no boundary conditions; take the section out, or, for a slit, have Gmsh's "
       "plugin Crack open the mesh there"},
      {"[boundary 8]\ntype=dirichlet\n",
       "plate.ini:2: [boundary 8]: 'crack' in plate.msh is a group of lines inside the domain, "
       "where "
       "there are no boundary conditions; take the section out, or, for a slit, have Gmsh's plugin "
       "Crack open the mesh there"},
      {"[boundary left]\ntype=dirichlet\nvalue=0\n[boundary 1]\ntype=dirichlet\nvalue=0\n",
       "plate.ini:5: [boundary left] and [boundary 1] are the same group of the mesh; keep one of "
       "them"},
      {"[boundary default]\ntype=dirichlet\n",
       "plate.ini:2: [boundary default] has no value, and there is no [exact] u to derive it from; "
       "add value = ..."},
      {"[boundary default]\ntype=neumann\nvalue=0\n[boundary left]\ntype=neumann\nvalue=x\n",
       "plate.ini:2: all boundaries are neumann and reaction is 0: the solution is determined only "
       "up to a constant; make one boundary dirichlet or reaction positive"},
      {"[boundary default]\ntype=dirichlet\nvalue=0\n[region stel]\n",
       "plate.ini:4: [region stel]: plate.msh has no region 'stel' among steel; did you mean "
       "'steel'?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_refused(cases[i][0], cases[i][1]);
}

/// Every region has a section here, though one of them has no keys.
static void a_section_of_a_region_without_keys_counts(void **state)
{
  (void)state;
  kg_group two[N_GROUPS + 1];
  memcpy(two, groups, sizeof groups);
  two[N_GROUPS] = (kg_group){.name = "air", .tag = 2, .dimension = 2, .count = 50};
  const kedge_mesh both = {
      .dimension = 2, .n_groups = N_GROUPS + 1, .groups = two, .source = "plate.msh"};
  kedge_problem *p = parsed(
      "[boundary default]\ntype=dirichlet\nvalue=0\n[equation]\ndiffusion=5\n"
      "[region steel]\ndiffusion=40\n[region air]\n");
  for (int calls = 0; calls < 2; ++calls) {
    kg_resolved r;
    assert_int_equal(kg_problem_resolve(NULL, p, &both, &r), KEDGE_OK);
    assert_int_equal(r.n_materials, 2);
    assert_true(kg_material_of(&r, 0)[0] == 40.0);
    assert_true(kg_material_of(&r, 1)[0] == 5.0);
    kg_resolved_free(&r);
    assert_int_equal(kedge_problem_set(p, "space", "order", "2"), KEDGE_OK);
  }
  kedge_problem_destroy(p);
}

static void a_seam_of_vertices_that_are_there_twice_is_said(void **state)
{
  (void)state;
  groups[DEFAULT].coincident = 2;
  assert_refused(OTHERS,
                 "4 boundary edges of plate.msh without a group have no condition; add [boundary "
                 "default]; 2 of them lie on other boundary edges: where that is no slit, join the "
                 "vertices that are there twice (Gmsh's Coherence Mesh does)");
  groups[DEFAULT].coincident = 0;
  groups[RIGHT].coincident = 12;
  assert_refused("[boundary left]\ntype=dirichlet\nvalue=0\n",
                 "boundary group 'right' of plate.msh (12 edges) has no condition; add [boundary "
                 "right] or [boundary default]; 12 of them lie on other boundary edges: where that "
                 "is no slit, join the vertices that are there twice (Gmsh's Coherence Mesh does)");
  groups[RIGHT].coincident = 0;
}

static void what_an_override_does_is_refused_as_its_own(void **state)
{
  (void)state;
  static const char text[] =
      "[mesh]\nfile=plate.msh\n[boundary left]\ntype=dirichlet\nvalue=0\n"
      "[boundary default]\ntype=neumann\nvalue=0\n";
  static const char *const cases[][2] = {
      {"boundary lefft.type=dirichlet",
       "--set boundary lefft.type=dirichlet: [boundary lefft]: plate.msh has no boundary group "
       "'lefft' among left (1), right (2), 7, default; did you mean 'left'?"},
      {"boundary left.type=neumann",
       "--set boundary left.type=neumann: all boundaries are neumann and reaction is 0: the "
       "solution is determined only up to a constant; make one boundary dirichlet or reaction "
       "positive"},
      {"solver.smoother=line",
       "--set solver.smoother=line: smoother = line is a setting of multigrid, and preconditioner "
       "= "
       "jacobi would not read it; leave it out, or take preconditioner = multigrid"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *const overrides[] = {cases[i][0], "boundary default.value=1",
                                     "solver.preconditioner=jacobi"};
    kedge_problem *p;
    kg_resolved r;
    assert_int_equal(kg_problem_parse(NULL, "plate.ini", text, strlen(text), overrides, 3, &p),
                     KEDGE_OK);
    assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
    kedge_problem_destroy(p);
  }
}

/// A section of the file is where the file says so, whatever --set makes of it.
static void the_place_of_a_section_is_in_the_file_where_it_can_be(void **state)
{
  (void)state;
  static const char text[] = "[boundary lefft]\ntype=neumann\nvalue=0\n";
  static const char *const overrides[] = {"boundary lefft.type=dirichlet"};
  kedge_problem *p;
  kg_resolved r;
  assert_int_equal(kg_problem_parse(NULL, "plate.ini", text, strlen(text), overrides, 1, &p),
                   KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
  assert_int_equal(strncmp(kedge_context_error(NULL), "plate.ini:3: [boundary lefft]: ", 31), 0);
  char place[64];
  kedge_problem_place(p, "boundary lefft", "value", place, sizeof place);
  assert_string_equal(place, "plate.ini:3: ");
  kedge_problem_place(p, "boundary lefft", "type", place, sizeof place);
  assert_string_equal(place, "--set boundary lefft.type=dirichlet: ");
  kedge_problem_place(p, "space", "order", place, sizeof place);
  assert_string_equal(place, "");
  assert_int_equal(kedge_problem_set(p, "space", "order", "2"), KEDGE_OK);
  kedge_problem_place(p, "space", "order", place, sizeof place);
  assert_string_equal(place, "");
  kedge_problem_destroy(p);
}

static void pure_neumann_with_reaction_is_allowed(void **state)
{
  (void)state;
  kedge_problem *p =
      parsed("[equation]\nreaction=1e-3\n[boundary default]\ntype=neumann\nvalue=0\n");
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_OK);
  kg_resolved_free(&r);
  kedge_problem_destroy(p);
}

/// Two triangles that touch in one vertex, the first with edges "a", the second with edges "b".
static kedge_mesh *two_parts(kedge_context *ctx)
{
  static const double vertices[][2] = {{0, 0}, {1, 0}, {1, 1}, {3, 1}, {3, 4}};
  static const int32_t triangles[][3] = {{0, 1, 2}, {2, 3, 4}}, tags[] = {1, 1, 1, 2, 2, 2},
                       lines[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}},
                       name_tags[] = {1, 2};
  static const char *const names[] = {"a", "b"};
  const kedge_mesh_arrays arrays = {.n_vertices = 5,
                                    .vertices = vertices[0],
                                    .n_triangles = 2,
                                    .triangles = triangles[0],
                                    .n_lines = 6,
                                    .lines = lines[0],
                                    .line_tags = tags,
                                    .n_names = 2,
                                    .name_tags = name_tags,
                                    .names = names};
  kedge_mesh *two;
  assert_int_equal(kedge_mesh_create(ctx, &arrays, &two), KEDGE_OK);
  return two;
}

static void each_part_in_space_needs_a_dirichlet_face_or_reaction(void **state)
{
  (void)state;
  static const double vertices[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                        {4, 4, 4}, {5, 4, 4}, {4, 5, 4}, {4, 4, 6}};
  static const int32_t corners[] = {0, 1, 2, 3, 4, 5, 6, 7}, faces[] = {0, 1, 2}, tags[] = {1};
  const kedge_context_options options = {.backend = KEDGE_BACKEND_HOST, .device = -1, .threads = 1};
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  kedge_context *ctx;
  kedge_mesh *two;
  arrays.n_vertices = 8;
  arrays.vertices = vertices[0];
  arrays.n_tetrahedra = 2;
  arrays.tetrahedra = corners;
  arrays.n_triangles = 1;
  arrays.triangles = faces;
  arrays.triangle_tags = tags;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  assert_int_equal(kedge_mesh_create_space(ctx, &arrays, &two), KEDGE_OK);
  kedge_problem *p =
      parsed("[boundary 1]\ntype=dirichlet\nvalue=0\n[boundary default]\ntype=neumann\nvalue=0\n");
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(ctx, p, two, &r), KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(ctx),
      "part 2 of 2 of the mesh (1 tetrahedron around (4.25, 4.25, 4.5), region '0', boundary "
      "'default') has only neumann boundaries and reaction is 0: the solution there is determined "
      "only up to a constant; give it a dirichlet boundary or make reaction positive, or, if the "
      "parts should be joined, give them common faces (Coherence in Gmsh)");
  assert_int_equal(kedge_problem_set(p, "equation", "reaction", "1e-9"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(ctx, p, two, &r), KEDGE_OK);
  assert_true(r.hold.at[2] == 4.5);
  kg_resolved_free(&r);
  kedge_problem_destroy(p);
  kedge_mesh_destroy(two);
  kedge_context_destroy(ctx);
}

static void each_part_of_a_domain_needs_a_dirichlet_edge_or_reaction(void **state)
{
  (void)state;
  const kedge_context_options options = {.backend = KEDGE_BACKEND_HOST, .device = -1, .threads = 1};
  kedge_context *ctx;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  kedge_mesh *two = two_parts(ctx);
  kedge_problem *p =
      parsed("[boundary a]\ntype=dirichlet\nvalue=0\n[boundary b]\ntype=neumann\nvalue=0\n");
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(ctx, p, two, &r), KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(ctx),
      "part 2 of 2 of the mesh (1 triangle around (2.33333, 2), region '0', boundary 'b') has only "
      "neumann boundaries and reaction is 0: the solution there is determined only up to a "
      "constant; give it a dirichlet boundary or make reaction positive, or, if the parts should "
      "be joined, give them common edges ([mesh] join = DISTANCE, or Coherence in Gmsh)");
  assert_null(r.boundaries);
  assert_int_equal(kedge_problem_set(p, "equation", "reaction", "1"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(ctx, p, two, &r), KEDGE_OK);
  kg_resolved_free(&r);
  assert_int_equal(kedge_problem_set(p, "equation", "reaction", "0"), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "boundary b", "type", "dirichlet"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(ctx, p, two, &r), KEDGE_OK);
  kg_resolved_free(&r);
  kedge_problem_destroy(p);
  kedge_mesh_destroy(two);
  kedge_context_destroy(ctx);
}

static void the_exact_solution_fills_what_is_left_out(void **state)
{
  (void)state;
  kedge_problem *p = parsed(
      "[equation]\ndiffusion=2\nreaction=3\n[exact]\nu=x^2*y\n"
      "[boundary default]\ntype=dirichlet\n[boundary left]\ntype=neumann\nvalue=9\n");
  kg_resolved r;
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_OK);
  assert_null(r.boundaries[RIGHT].value);
  assert_true(at(r.boundaries[LEFT].value, 0, 0) == 9);
  assert_true(r.derives_source);
  assert_true(fabs(at(&r.equation.source, 2, 5) - (3 * 20 - 2 * 10)) < 1e-12);
  kg_resolved_free(&r);

  assert_int_equal(kedge_problem_set(p, "equation", "source", "7"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_OK);
  assert_false(r.derives_source);
  assert_true(at(&r.equation.source, 2, 5) == 7);
  kg_resolved_free(&r);
  kedge_problem_destroy(p);
}

static void one(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 1;
}

static void calls_meet_the_same_refusals(void **state)
{
  (void)state;
  kedge_problem *p;
  kg_resolved r;
  assert_int_equal(kedge_problem_create(NULL, &p), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "boundary default", "value", "1"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL),
                      "[boundary default] has no type; add dirichlet, neumann or robin");
  assert_int_equal(kedge_problem_set(p, "boundary default", "type", "dirichlet"), KEDGE_OK);
  assert_int_equal(kedge_problem_set_exact(p, one, one, one, NULL), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL),
                      "the exact solution is a function of the caller, so no source can be derived "
                      "from it; set the source too");
  assert_int_equal(kedge_problem_set_source(p, one, NULL), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_OK);
  kg_resolved_free(&r);
  assert_int_equal(kedge_problem_set(p, "boundary nowhere", "type", "dirichlet"), KEDGE_OK);
  assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(NULL),
      "[boundary nowhere]: plate.msh has no boundary group 'nowhere' among left (1), "
      "right (2), 7, default");
  kedge_problem_destroy(p);
}

/// Two settings of [solver], of lines 5 and 6 of the file, and the sentence; NULL: multigrid is
/// taken.
typedef struct solver_case {
  const char *settings, *sentence;
} solver_case;

static void settings_of_multigrid_are_refused_where_it_is_not(void **state)
{
  (void)state;
  static const solver_case cases[] = {
      {"preconditioner = jacobi\nsmoother = line",
       "plate.ini:6: smoother = line is a setting of multigrid, and preconditioner = jacobi would "
       "not read it; "
       "leave it out, or take preconditioner = multigrid"},
      {"preconditioner = jacobi\nsmoothing_steps = 2",
       "plate.ini:6: smoothing_steps = 2 is a setting of multigrid, and preconditioner = jacobi "
       "would not read "
       "it; leave it out, or take preconditioner = multigrid"},
      {"preconditioner = block-jacobi\nsmoothing_steps = 3",
       "plate.ini:6: smoothing_steps = 3 is a setting of multigrid, and preconditioner = "
       "block-jacobi would not read it; leave it out, or take preconditioner = multigrid"},
      {"operator = ell\nsmoother = edge",
       "plate.ini:6: smoother = edge is a setting of multigrid, which needs operator = "
       "matrix-free: it is made "
       "from the packed local matrices, which operator = ell does not keep; change one of the two"},
      {"operator = matrix-free-plain\nprecision = mixed",
       "plate.ini:6: precision = mixed is a setting of multigrid, which needs operator = "
       "matrix-free: it is "
       "made "
       "from the packed local matrices, which operator = matrix-free-plain does not keep; change "
       "one of the two"},
      {"precision = compact", NULL},
      {"smoother = line", NULL},
      {"smoothing_steps = 2\npreconditioner = auto", NULL},
      {"preconditioner = multigrid\nsmoother = auto", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[200];
    snprintf(text, sizeof text, "[boundary default]\ntype = dirichlet\nvalue = 1\n[solver]\n%s",
             cases[i].settings);
    kedge_problem *p = parsed(text);
    kg_resolved r;
    const bool good = cases[i].sentence == NULL;
    assert_int_equal(kg_problem_resolve(NULL, p, &mesh, &r), good ? KEDGE_OK : KEDGE_ERR_INPUT);
    if (good)
      assert_true(kg_problem_asks_multigrid(p));
    else
      assert_string_equal(kedge_context_error(NULL), cases[i].sentence);
    if (good) kg_resolved_free(&r);
    kedge_problem_destroy(p);
  }
}

static void without_them_multigrid_is_not_asked_for(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "[solver]\nsmoother = auto\nsmoothing_steps = 1",
                                      "[solver]\npreconditioner = block-jacobi\nsmoother = line"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    kedge_problem *p = parsed(texts[i]);
    assert_int_equal(kg_problem_check_solver(NULL, p), KEDGE_OK);
    assert_false(kg_problem_asks_multigrid(p));
    kedge_problem_destroy(p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_come_before_numbers_and_default_takes_the_rest),
      cmocka_unit_test(a_section_of_a_region_without_keys_counts),
      cmocka_unit_test(what_does_not_fit_the_mesh_is_refused),
      cmocka_unit_test(a_seam_of_vertices_that_are_there_twice_is_said),
      cmocka_unit_test(what_an_override_does_is_refused_as_its_own),
      cmocka_unit_test(the_place_of_a_section_is_in_the_file_where_it_can_be),
      cmocka_unit_test(pure_neumann_with_reaction_is_allowed),
      cmocka_unit_test(each_part_in_space_needs_a_dirichlet_face_or_reaction),
      cmocka_unit_test(each_part_of_a_domain_needs_a_dirichlet_edge_or_reaction),
      cmocka_unit_test(the_exact_solution_fills_what_is_left_out),
      cmocka_unit_test(calls_meet_the_same_refusals),
      cmocka_unit_test(settings_of_multigrid_are_refused_where_it_is_not),
      cmocka_unit_test(without_them_multigrid_is_not_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Domains of several parts: u of a part that nothing determines is refused, and what holds it next
// to nothing is noted.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "device/backend.h"
#include "support.h"

enum { PARTS = 3, N = 3, COUNT = PARTS * 2 * N * N };

/// Unit squares of N x N squares of two triangles, at x = 0, 2 and 4; region and boundary group of
/// the k-th are k + 1.
static kedge_mesh *three_parts(void)
{
  enum { ROW = N + 1, VERTICES = ROW * ROW };
  static double vertices[PARTS * VERTICES][2];
  static int32_t triangles[COUNT][3], regions[COUNT], lines[PARTS * 4 * N][2], tags[PARTS * 4 * N];
  int t = 0, l = 0;
  for (int v = 0; v < PARTS * VERTICES; ++v) {
    vertices[v][0] = 2.0 * (v / VERTICES) + (double)(v % ROW) / N;
    vertices[v][1] = (double)(v % VERTICES / ROW) / N;
  }
  for (int k = 0; k < PARTS; ++k) {
    for (int s = 0; s < N * N; ++s) {
      const int32_t a = k * VERTICES + s / N * ROW + s % N, c = a + ROW + 1;
      memcpy(triangles[t], (int32_t[]){a, a + 1, c}, sizeof *triangles);
      memcpy(triangles[t + 1], (int32_t[]){a, c, c - 1}, sizeof *triangles);
      regions[t] = regions[t + 1] = k + 1;
      t += 2;
    }
    for (int i = 0; i < N; ++i) {
      const int32_t o = k * VERTICES, end = VERTICES - 1;
      memcpy(lines[l], (int32_t[]){o + i, o + i + 1}, sizeof *lines);
      memcpy(lines[l + 1], (int32_t[]){o + end - i, o + end - i - 1}, sizeof *lines);
      memcpy(lines[l + 2], (int32_t[]){o + ROW * i, o + ROW * (i + 1)}, sizeof *lines);
      memcpy(lines[l + 3], (int32_t[]){o + end - ROW * i, o + end - ROW * (i + 1)}, sizeof *lines);
      for (int j = 0; j < 4; ++j) tags[l++] = k + 1;
    }
  }
  const kedge_mesh_arrays arrays = {.n_vertices = PARTS * VERTICES,
                                    .vertices = vertices[0],
                                    .n_triangles = COUNT,
                                    .triangles = triangles[0],
                                    .regions = regions,
                                    .n_lines = l,
                                    .lines = lines[0],
                                    .line_tags = tags};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

#define NEUMANN                                 \
  {"space", "order", "2"}, {"exact", "u", "2"}, \
  {                                             \
    "boundary default", "type", "neumann"       \
  }

#define BY_ARRAY                                                        \
  {"equation", "source", "1"}, {"boundary default", "type", "neumann"}, \
  {                                                                     \
    "boundary default", "value", "0"                                    \
  }

/// The sentence about the middle part.
#define MIDDLE "part 2 of 3 of the mesh (18 triangles around ("

static void assert_refused(const kedge_mesh *mesh, const kedge_problem *problem)
{
  const char *const text = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
  assert_non_null(strstr(text, MIDDLE));
  assert_non_null(strstr(text, ", region '2', boundary '2') has only "));
  kedge_plan plan = KEDGE_PLAN_INIT;
  assert_int_equal(kedge_plan_make(ctx, mesh, problem, &plan), KEDGE_ERR_INPUT);
  kedge_solver *solver;
  assert_int_equal(kedge_solver_create(ctx, mesh, problem, &solver), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), MIDDLE));
}

static void a_part_without_reaction_is_refused_however_reaction_is_given(void **state)
{
  (void)state;
  kedge_mesh *mesh = three_parts();
  const setting *const cases[] = {
      SETTINGS(NEUMANN, {"region default", "reaction", "1"}, {"region 2", "reaction", "0"}),
      SETTINGS(NEUMANN, {"region default", "reaction", "1"}, {"region 2", "reaction", "1e-17"}),
      SETTINGS(NEUMANN, {"equation", "reaction", "abs(x - 2.5) > 1 ? 1 + y : 0"}),
      SETTINGS(NEUMANN, {"equation", "reaction", "max(0, abs(x - 2.5) - 0.75)"}),
      SETTINGS(NEUMANN, {"region default", "reaction", "1+x"}, {"region 2", "reaction", "0*x"}),
      SETTINGS(NEUMANN, {"boundary 1", "type", "dirichlet"}, {"boundary 3", "type", "dirichlet"}),
      SETTINGS(NEUMANN, {"boundary 1", "type", "dirichlet"}, {"boundary 3", "type", "dirichlet"},
               {"boundary 2", "type", "robin"}, {"boundary 2", "coefficient", "1e-17"}),
      SETTINGS(NEUMANN, {"boundary 1", "type", "dirichlet"}, {"boundary 3", "type", "robin"},
               {"boundary 3", "coefficient", "y"}),
      SETTINGS(NEUMANN, {"region default", "reaction", "1"}, {"region 2", "diffusion", "1e20"},
               {"region default", "diffusion", "1"}, {"region 2", "reaction", "1"})};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *problem = problem_of(ctx, cases[i]);
    assert_refused(mesh, problem);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void a_part_without_reaction_is_refused_where_arrays_say_so(void **state)
{
  (void)state;
  kedge_mesh *mesh = three_parts();
  double reaction[COUNT];
  kg_buffer there;
  for (int e = 0; e < COUNT; ++e) reaction[e] = e / (COUNT / PARTS) == 1 ? 0.0 : 1.0 + e;
  must(ctx, kg_upload(ctx, reaction, COUNT, sizeof *reaction, &there));
  for (int k = 0; k < 2; ++k) {
    kedge_problem *problem = problem_of(ctx, SETTINGS(BY_ARRAY));
    must(ctx, kedge_problem_set_function(problem, "equation", "reaction",
                                         k ? kedge_by_element_device : kedge_by_element,
                                         k ? there.data : reaction));
    assert_refused(mesh, problem);
    kedge_problem_destroy(problem);
  }
  reaction[COUNT / 2] = 1e-3;  // one element of the part is enough
  kedge_problem *problem = problem_of(ctx, SETTINGS(BY_ARRAY));
  must(ctx,
       kedge_problem_set_function(problem, "equation", "reaction", kedge_by_element, reaction));
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kg_free(ctx, &there);
  kedge_mesh_destroy(mesh);
}

static void an_update_that_leaves_a_part_undetermined_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = three_parts();
  kedge_problem *problem = problem_of(
      ctx, SETTINGS(NEUMANN, {"region default", "reaction", "1"}, {"region 2", "reaction", "3"}));
  kedge_solver *solver;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  static const char *const reactions[] = {"0", "max(0, x - 3.5)", "1e-18"};
  for (size_t i = 0; i < sizeof reactions / sizeof *reactions; ++i) {
    kedge_solution *solutions[2] = {NULL, NULL};
    const kedge_data *const data[2] = {NULL, NULL};
    must(ctx, kedge_problem_set(problem, "region 2", "reaction", reactions[i]));
    assert_int_equal(kedge_solver_update(solver), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(ctx), MIDDLE));
    assert_int_not_equal(kedge_solver_solve_many(solver, 2, data, solutions), KEDGE_OK);
    must(ctx, kedge_problem_set(problem, "region 2", "reaction", "2"));
    must(ctx, kedge_solver_update(solver));
    must(ctx, kedge_solver_solve_many(solver, 2, data, solutions));
    for (int k = 0; k < 2; ++k) {
      kedge_report r = KEDGE_REPORT_INIT;
      must(ctx, kedge_solution_report(solutions[k], &r));
      assert_at_most(r.u_l2, 1e-8);
      kedge_solution_destroy(solutions[k]);
    }
  }
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_domain_whose_reaction_is_nothing_everywhere_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 5);
  static const char *const reactions[] = {"max(0, x - 2)", "0*y", "1e-18"};
  for (size_t i = 0; i < sizeof reactions / sizeof *reactions; ++i) {
    kedge_problem *problem =
        problem_of(ctx, SETTINGS(NEUMANN, {"equation", "reaction", reactions[i]}));
    assert_int_equal(strncmp(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                             "all boundaries are neumann and reaction ", 40),
                     0);
    kedge_problem_destroy(problem);
  }
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"exact", "u", "2"}, {"boundary default", "type", "robin"},
                               {"boundary default", "coefficient", "1e-20*(1+x)"}));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                         "all boundaries are neumann or robin and (reaction + coefficient * "
                         "boundary / area) * h^2 is only "));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// Reaction is 0 in the middle of every element, and holds u all the same.
static void little_that_holds_u_is_not_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = three_parts();
  const setting *const cases[] = {
      SETTINGS(NEUMANN, {"equation", "reaction", "1e-6"}),
      SETTINGS(NEUMANN, {"equation", "reaction", "y < 0.1 ? 1 : 0"}),
      SETTINGS(NEUMANN, {"equation", "reaction", "x < 1.5 ? 1 : 0"},
               {"boundary 2", "type", "dirichlet"}, {"boundary 3", "type", "robin"},
               {"boundary 3", "coefficient", "1e-3*max(0, y - 0.8)"})};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const kedge_report r = report_of(ctx, mesh, cases[i]);
    assert_true(r.converged);
    if (i == 0) assert_at_most(r.u_l2, 1e-4);
  }
  kedge_mesh_destroy(mesh);
}

static void the_digits_that_a_part_has_left_are_noted(void **state)
{
  (void)state;
  kedge_mesh *mesh = three_parts();
  const kedge_report r =
      report_of(ctx, mesh,
                SETTINGS({"space", "order", "2"}, {"exact", "u", "abs(x - 2.5) < 1 ? 1 : 0"},
                         {"boundary default", "type", "dirichlet"},
                         {"boundary 2", "type", "neumann"}, {"boundary 2", "value", "0"},
                         {"region default", "reaction", "0"}, {"region 2", "reaction", "1e-8"}));
  double x, y, share, change;
  int digits;
  assert_true(r.converged);
  const char *const note = strstr(r.solver_note, "all boundaries");
  assert_non_null(note);
  assert_int_equal(sscanf(note,
                          "all boundaries of the part around (%lf, %lf) are neumann and reaction * "
                          "h^2 is only %lf of the diffusion: rounding may change the mean of u by "
                          "some %lf of its size (digits left: %d)",
                          &x, &y, &share, &change, &digits),
                   5);
  assert_true(x > 2.0 && x < 3.0 && y > 0.0 && y < 1.0);
  assert_true(fabs(share - 1e-8 / (N * N)) < 0.2 * share && digits == 3);
  assert_at_most(r.u_l2, change);
  kedge_mesh_destroy(mesh);
}

/// A slit whose banks have conditions of their own is meant; one that falls under [boundary
/// default] may be a seam.
static void banks_of_a_slit_are_noted_where_the_default_takes_them(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_read(ctx, KEDGE_SOURCE_DIR "/meshes/slit.msh", &mesh));
  const kedge_report meant =
      report_of(ctx, mesh,
                SETTINGS({"exact", "u", "1"}, {"boundary default", "type", "dirichlet"},
                         {"boundary slit-upper", "type", "neumann"},
                         {"boundary slit-lower", "type", "neumann"}));
  assert_null(strstr(meant.solver_note, "lie on others"));
  const kedge_report seam =
      report_of(ctx, mesh,
                SETTINGS({"exact", "u", "1"}, {"boundary inner", "type", "dirichlet"},
                         {"boundary default", "type", "neumann"}));
  assert_non_null(
      strstr(seam.solver_note, "12 boundary edges lie on others and are not joined, as"));
  kedge_mesh_destroy(mesh);
}

/// Two squares of two triangles, the second `off` to the right of the first.
static kedge_mesh *two_squares(double off)
{
  const double x = off, y = 1.0 + off;
  const double vertices[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {x, 0}, {y, 0}, {y, 1}, {x, 1}};
  static const int32_t triangles[][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}},
                       lines[][2] = {{0, 3}, {5, 6}, {1, 2}, {4, 7}}, tags[] = {1, 2, 3, 4};
  const kedge_mesh_arrays arrays = {.n_vertices = 8,
                                    .vertices = vertices[0],
                                    .n_triangles = 4,
                                    .triangles = triangles[0],
                                    .n_lines = 4,
                                    .lines = lines[0],
                                    .line_tags = tags};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

/// Parts that touch are noted whatever conditions they have there, and elements on elements.
static void parts_that_touch_and_overlap_are_noted(void **state)
{
  (void)state;
  static const struct {
    double off;
    const char *note;
  } cases[] = {{1.0 + 3e-11,
                "2 boundary edges lie on others and are not joined, as at (1, 0.5): nothing passes "
                "there; [mesh] join = 1e-09 joins them"},
               {0.75, "elements lie on other elements, as at ("},
               {2.0, ""},
               {1.001, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh = two_squares(cases[i].off);
    const kedge_report r =
        report_of(ctx, mesh,
                  SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"},
                           {"boundary 3", "type", "neumann"}, {"boundary 4", "type", "neumann"}));
    if (cases[i].note[0])
      assert_non_null(strstr(r.solver_note, cases[i].note));
    else
      assert_null(strstr(r.solver_note, "lie on"));
    kedge_mesh_destroy(mesh);
  }
  kedge_mesh *mesh = two_squares(1.0 + 3e-11), *joined;
  must(ctx, kedge_mesh_join(ctx, mesh, 1e-9, &joined));
  const kedge_report r = report_of(
      ctx, joined, SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"}));
  assert_null(strstr(r.solver_note, "lie on"));
  assert_at_most(r.u_l2, 1e-9);
  kedge_mesh_destroy(joined);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_part_without_reaction_is_refused_however_reaction_is_given),
      cmocka_unit_test(a_part_without_reaction_is_refused_where_arrays_say_so),
      cmocka_unit_test(an_update_that_leaves_a_part_undetermined_is_refused),
      cmocka_unit_test(a_domain_whose_reaction_is_nothing_everywhere_is_refused),
      cmocka_unit_test(little_that_holds_u_is_not_refused),
      cmocka_unit_test(the_digits_that_a_part_has_left_are_noted),
      cmocka_unit_test(banks_of_a_slit_are_noted_where_the_default_takes_them),
      cmocka_unit_test(parts_that_touch_and_overlap_are_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// Meshes of tetrahedra: numbers of groups and regions, the error that the iteration leaves, fields
// that are not finite. tests/solver/test_balance.c looks at every element.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "support.h"

static const kedge_group_values *group_of(const kedge_report *r, const char *name)
{
  for (int i = 0; i < r->n_groups; ++i)
    if (strcmp(r->groups[i]->name, name) == 0) return r->groups[i];
  fail_msg("there is no group %s", name);
  return NULL;
}

/// A solution with the mesh that its numbers have names of.
typedef struct solved {
  kedge_mesh *mesh;
  kedge_solution *solution;
} solved;

static void forget(solved *s)
{
  kedge_solution_destroy(s->solution);
  kedge_mesh_destroy(s->mesh);
}

/// Solve on a mesh that is generated, by turns for the report alone.
static solved solve_on(const char *generate, const setting *settings, kedge_report *report)
{
  static int turn;
  solved s;
  kedge_problem *problem = problem_of(ctx, settings);
  must(ctx, kedge_mesh_generate(ctx, generate, &s.mesh));
  must(ctx, (++turn % 2 ? kedge_solve : kedge_solve_report)(ctx, s.mesh, problem, &s.solution));
  *report = (kedge_report)KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(s.solution, report));
  assert_int_equal(report->dimension, 3);
  kedge_problem_destroy(problem);
  return s;
}

static void assert_near(double value, double expected)
{
  assert_at_most(fabs(value - expected), 1e-11 * fmax(1.0, fabs(expected)));
}

/// u = 2 x - 3 y + z / 2 + 1 with the diffusion 2 and the reaction 3.
static void a_linear_function_has_the_numbers_that_are_known(void **state)
{
  static const struct {
    const char *name;
    double mean, flux;
  } sides[] = {{"x0", -0.25, -4.0}, {"x1", 1.75, 4.0}, {"y0", 2.25, 6.0},
               {"y1", -0.75, -6.0}, {"z0", 0.5, -1.0}, {"z1", 1.0, 1.0}};
  (void)state;
  for (int order = 1; order <= (test_is_quick() ? 3 : 6); ++order) {
    char text[2] = {(char)('0' + order)};
    kedge_report r;
    solved s = solve_on(
        order % 2 ? "cube 3" : "cube 2",
        SETTINGS({"space", "order", text}, {"equation", "diffusion", "2"},
                 {"equation", "reaction", "3"}, {"equation", "source", "3*(2*x-3*y+z/2+1)"},
                 {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "2*x-3*y+z/2+1"}, {"boundary x1", "type", "neumann"},
                 {"boundary x1", "value", "4"}, {"solver", "tolerance", "1e-14"}),
        &r);
    assert_int_equal(r.n_groups, 6);
    for (int i = 0; i < 6; ++i) {
      const kedge_group_values *const v = group_of(&r, sides[i].name);
      assert_int_equal(v->edges, order % 2 ? 18 : 8);
      assert_false(v->inside);
      assert_near(v->length, 1.0);
      assert_near(v->mean, sides[i].mean);
      assert_near(v->integral, sides[i].mean);
      assert_near(v->flux, sides[i].flux);
    }
    assert_int_equal(r.n_regions, 1);
    const kedge_region_values *const v = r.regions[0];
    assert_int_equal(v->elements, r.elements);
    assert_near(v->area, 1.0);
    assert_near(v->mean, 0.75);
    assert_near(v->integral, 0.75);
    assert_near(v->energy, 2.0 * (4.0 + 9.0 + 0.25));
    assert_near(v->source, 2.25);
    assert_near(v->reaction, 2.25);
    assert_near(v->least, -2.0);
    assert_near(v->most, 3.5);
    const double places[6] = {v->least_at[0], v->least_at[1], v->least_z,
                              v->most_at[0],  v->most_at[1],  v->most_z};
    const double expected[6] = {0.0, 1.0, 0.0, 1.0, 0.0, 1.0};
    for (int k = 0; k < 6; ++k) assert_at_most(fabs(places[k] - expected[k]), 1e-15);
    assert_near(r.balance.flux, 0.0);
    assert_near(r.balance.remainder, 0.0);
    assert_true(isnan(r.conductance) && isnan(r.energy_conductance));
    forget(&s);
  }
}

/// The extremum lies at a node inside an edge, or inside the element, and not at a corner.
static void extrema_are_found_between_corners(void **state)
{
  (void)state;
  for (int order = 2; order <= (test_is_quick() ? 3 : 6); ++order) {
    const double at = floor(0.5 * order) / order, u = (at - 0.5) * (at - 0.5);
    char text[2] = {(char)('0' + order)};
    kedge_report r;
    solved s = solve_on(
        "cube 1",
        SETTINGS({"space", "order", text}, {"equation", "source", "2"},
                 {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "y - (x-0.5)^2"}, {"solver", "tolerance", "1e-14"}),
        &r);
    const kedge_region_values *const v = r.regions[0];
    assert_near(v->most, 1.0 - u);
    assert_at_most(fabs(fabs(v->most_at[0] - 0.5) - fabs(at - 0.5)), 1e-15);
    assert_near(v->most_at[1], 1.0);
    assert_near(v->least, -0.25);
    assert_near(v->least_at[1], 0.0);
    forget(&s);
  }
}

static void a_plate_conducts_by_its_area_over_its_thickness(void **state)
{
  static const char *const diffusions[] = {"1", "7.5"};
  (void)state;
  for (int order = 1; order <= (test_is_quick() ? 3 : 6); ++order)
    for (int k = 0; k < 2; ++k) {
      char text[2] = {(char)('0' + order)};
      kedge_report r;
      solved s = solve_on(
          "cube 3",
          SETTINGS({"space", "order", text}, {"equation", "diffusion", diffusions[k]},
                   {"boundary default", "type", "neumann"}, {"boundary default", "value", "0"},
                   {"boundary x0", "type", "dirichlet"}, {"boundary x0", "value", "-2"},
                   {"boundary x1", "type", "dirichlet"}, {"boundary x1", "value", "1"},
                   {"solver", "tolerance", "1e-14"}),
          &r);
      const double known = strtod(diffusions[k], NULL);
      assert_near(r.conductance / known, 1.0);
      assert_near(r.energy_conductance / known, 1.0);
      forget(&s);
    }
}

/// The flux and the energy, with the part of the stabilization, are one number where u is none of
/// the space: the values of two opposite sides, with a side between them that takes the flux.
static void conductances_by_flux_and_energy_agree(void **state)
{
  (void)state;
  kedge_report r;
  solved s =
      solve_on("cube 3",
               SETTINGS({"space", "order", "2"}, {"boundary default", "type", "neumann"},
                        {"boundary default", "value", "0"}, {"boundary x0", "type", "dirichlet"},
                        {"boundary x0", "value", "0"}, {"boundary y1", "type", "dirichlet"},
                        {"boundary y1", "value", "3"}, {"solver", "tolerance", "1e-14"}),
               &r);
  assert_true(r.conductance > 1.0);
  assert_at_most(fabs(r.conductance / r.energy_conductance - 1.0), 1e-10);
  forget(&s);
}

/// The remainder is at most this, relative to the largest term and to the residual of the
/// iteration.
#define LEFT 200.0

static void the_domain_balances_to_what_the_iteration_leaves(void **state)
{
  static const char *const tolerances[] = {"1e-6", "1e-9", "1e-13"};
  (void)state;
  for (int k = 0; k < 3; ++k) {
    kedge_report r;
    solved s = solve_on(
        "cube 4",
        SETTINGS({"space", "order", "3"}, {"equation", "diffusion", "0.6"},
                 {"equation", "reaction", "1.3"}, {"equation", "source", "exp(x)*(1+z)"},
                 {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "sin(3*x)+y*z"}, {"boundary z1", "type", "neumann"},
                 {"boundary z1", "value", "cos(x)-y"}, {"solver", "tolerance", tolerances[k]}),
        &r);
    double flux = 0.0, most = fmax(fabs(r.balance.source), fabs(r.balance.reaction));
    for (int i = 0; i < r.n_groups; ++i) {
      flux += r.groups[i]->flux;
      most = fmax(most, fabs(r.groups[i]->flux));
    }
    assert_true(r.converged && flux == r.balance.flux);
    assert_true(r.balance.remainder == r.balance.reaction - r.balance.source - flux);
    assert_at_most(fabs(r.balance.remainder), LEFT * fmax(r.relative_residual, DBL_EPSILON) * most);
    forget(&s);
  }
}

#define OFFSET                                                                                     \
  {"space", "order", "2"}, {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"}, \
  {                                                                                                \
    "boundary default", "value", "1e7"                                                             \
  }

/// Boundary values of 1e7 make residuals small beside u, and say nothing of q.
static void an_error_that_the_iteration_leaves_is_estimated_and_said(void **state)
{
  kedge_report r, exact;
  (void)state;
  solved s = solve_on("cube 4", SETTINGS(OFFSET, {"solver", "tolerance", "1e-10"}), &r);
  solved better = solve_on("cube 4", SETTINGS(OFFSET, {"solver", "tolerance", "auto"}), &exact);
  assert_true(r.iteration_q > 1e-3 && r.iteration_sigma > 1e-3);
  assert_true(r.iteration_u < 1e-6 && r.iteration_u_star < 1e-6);
  assert_true(r.extra_iterations > 0);
  assert_non_null(strstr(r.solver_note, "the iteration leaves an error of "));
  assert_true(exact.iteration_q < 1e-3 && exact.iteration_q > 0.0);
  assert_null(strstr(exact.solver_note, "the iteration leaves an error of "));
  // The energy of q: its error is the estimated one, of either sign, within ten.
  const double size = exact.regions[0]->energy, error = fabs(r.regions[0]->energy / size - 1.0);
  assert_true(error < 10.0 * (2.0 * r.iteration_q + r.iteration_q * r.iteration_q));
  forget(&s);
  forget(&better);
}

static void a_solve_that_leaves_nothing_to_speak_of_takes_no_step_more(void **state)
{
  kedge_report r;
  (void)state;
  solved s =
      solve_on("cube 3",
               SETTINGS({"space", "order", "2"}, {"equation", "source", "1+x*z"},
                        {"boundary default", "type", "dirichlet"},
                        {"boundary default", "value", "x*y"}, {"solver", "tolerance", "1e-12"}),
               &r);
  assert_int_equal(r.extra_iterations, 0);
  assert_string_equal(r.solver_note, "");
  forget(&s);
}

/// One tetrahedron, all of whose faces have values: there are no unknowns of the trace, and their
/// equations are not asked whether these are too large.
static void a_field_that_is_not_finite_is_refused_with_its_place(void **state)
{
  (void)state;
  double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t corners[] = {0, 1, 2, 3}, region = 1;
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx,
                          &(kg_raw_mesh){.dimension = 3,
                                         .n_vertices = 4,
                                         .vertices = vertices,
                                         .n_elements = 1,
                                         .width = 4,
                                         .corners = corners,
                                         .regions = &region},
                          "one", &mesh));
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "1e308*x"}));
  const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(
      sentence, "u is not finite in the element at x = 0.25, y = 0.25, z = 0.25: check the "));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_flux_that_is_not_finite_is_noted_with_its_place(void **state)
{
  kedge_report r;
  (void)state;
  solved s = solve_on(
      "cube 3",
      SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "1e200"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "1e120*x"}),
      &r);
  assert_non_null(strstr(r.solver_note, "sigma is not finite in the element at x = "));
  assert_non_null(strstr(r.solver_note, ", z = "));
  forget(&s);
}

/// Whether a face lies in a plane across an axis.
static bool is_on(const kg_raw_mesh *raw, const int32_t face[3], int axis, double at)
{
  for (int i = 0; i < 3; ++i)
    if (fabs(raw->vertices[3 * (int64_t)face[i] + axis] - at) > 1e-12) return false;
  return true;
}

/// Whether all of n vertices are in the cube [1/4, 3/4]^3.
static bool are_inside(const kg_raw_mesh *raw, int n, const int32_t *vertex)
{
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k)
      if (fabs(raw->vertices[3 * (int64_t)vertex[i] + k] - 0.5) > 0.25 + 1e-12) return false;
  return true;
}

/// The group of a face: 21 on the surface of that cube, 20 in the plane x = 1/2 outside of it; 0.
static int32_t tag_of(const kg_raw_mesh *raw, const int32_t face[3])
{
  const bool in = are_inside(raw, 3, face);
  if (!in) return is_on(raw, face, 0, 0.5) ? 20 : 0;
  for (int k = 0; k < 6; ++k)
    if (is_on(raw, face, k / 2, k % 2 ? 0.75 : 0.25)) return 21;
  return 0;
}

/// `cube 4` with these groups; its elements have the region 3, in the cube inside another one.
static kedge_mesh *with_surfaces(int32_t inner)
{
  kedge_mesh *plain, *mesh;
  kg_raw_mesh raw, more;
  must(ctx, kedge_mesh_generate(ctx, "cube 4", &plain));
  must(ctx, kg_mesh_to_raw(ctx, plain, &raw));
  must(ctx, kg_raw_mesh_alloc(ctx, 3, raw.n_vertices, raw.n_elements, 4,
                              raw.n_lines + 4 * raw.n_elements, &more));
  memcpy(more.vertices, raw.vertices, 3 * (size_t)raw.n_vertices * sizeof *raw.vertices);
  memcpy(more.corners, raw.corners, 4 * (size_t)raw.n_elements * sizeof *raw.corners);
  memcpy(more.lines, raw.lines, 3 * (size_t)raw.n_lines * sizeof *raw.lines);
  memcpy(more.line_tags, raw.line_tags, (size_t)raw.n_lines * sizeof *raw.line_tags);
  more.n_lines = raw.n_lines;
  for (int64_t e = 0; e < raw.n_elements; ++e) {
    more.regions[e] = are_inside(&raw, 4, raw.corners + 4 * e) ? inner : 3;
    for (int l = 0; l < 4; ++l) {
      int32_t *const face = more.lines + 3 * more.n_lines;
      for (int i = 0, n = 0; i < 4; ++i)
        if (i != l) face[n++] = raw.corners[4 * e + i];
      more.line_tags[more.n_lines] = tag_of(&raw, face);
      more.n_lines += more.line_tags[more.n_lines] > 0;
    }
  }
  must(ctx, kg_mesh_build(ctx, &more, "surfaces", &mesh));
  kg_raw_mesh_free(&more);
  kg_raw_mesh_free(&raw);
  kedge_mesh_destroy(plain);
  return mesh;
}

/// grad u is (1, 0, 0) + (x, y, z), whose flux out of the inner cube is three times its volume.
static void surfaces_inside_have_a_side(void **state)
{
  static const int32_t inner[] = {3, 5, 2};
  (void)state;
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh = with_surfaces(inner[k]);
    kedge_report r = KEDGE_REPORT_INIT;
    kedge_solution *s = solve(ctx, mesh,
                              SETTINGS({"space", "order", "2"}, {"equation", "source", "-3"},
                                       {"boundary default", "type", "dirichlet"},
                                       {"boundary default", "value", "x+(x^2+y^2+z^2)/2"},
                                       {"solver", "tolerance", "1e-14"}));
    must(ctx, kedge_solution_report(s, &r));
    const kedge_group_values *const around = group_of(&r, "21"), *const middle = group_of(&r, "20");
    assert_true(around->inside && middle->inside);
    assert_int_equal(around->edges, 6 * 4 * 2);
    assert_near(around->length, 6.0 * 0.25);
    // Out of the region of the lower tag: 3 is outside.
    assert_near(around->flux, k == 1 ? -3.0 / 8 : 3.0 / 8);
    assert_near(middle->length, 0.75);
    assert_near(middle->flux, 1.5 * 0.75);
    assert_int_equal(r.n_regions, k == 0 ? 1 : 2);
    for (int i = 0; i < r.n_regions; ++i) {
      const kedge_region_values *const v = r.regions[i];
      const double volume = k == 0 ? 1.0 : v->tag == 3 ? 0.875 : 0.125;
      assert_near(v->area, volume);
      assert_near(v->source, -3.0 * volume);
      if (v->tag == 3) continue;
      assert_int_equal(v->elements, 6 * 8);
      assert_near(v->least, 0.25 + 0.5 * 3.0 / 16);
      assert_near(v->least_z, 0.25);
      assert_near(v->most, 0.75 + 0.5 * 27.0 / 16);
      assert_near(v->most_z, 0.75);
    }
    assert_near(r.balance.flux, 3.0);
    assert_near(r.balance.remainder, 0.0);
    kedge_solution_destroy(s);
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_linear_function_has_the_numbers_that_are_known),
      cmocka_unit_test(extrema_are_found_between_corners),
      cmocka_unit_test(a_plate_conducts_by_its_area_over_its_thickness),
      cmocka_unit_test(conductances_by_flux_and_energy_agree),
      cmocka_unit_test(the_domain_balances_to_what_the_iteration_leaves),
      cmocka_unit_test(an_error_that_the_iteration_leaves_is_estimated_and_said),
      cmocka_unit_test(a_solve_that_leaves_nothing_to_speak_of_takes_no_step_more),
      cmocka_unit_test(a_field_that_is_not_finite_is_refused_with_its_place),
      cmocka_unit_test(a_flux_that_is_not_finite_is_noted_with_its_place),
      cmocka_unit_test(surfaces_inside_have_a_side),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

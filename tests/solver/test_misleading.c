// Fields that mislead: u where the stabilization is small for the scale of the solution, u* in
// layers that are thinner than elements, numbers that are not finite. And fields that do not.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "moved.h"
#include "support.h"

#define POOR_U    "u is off by some "
#define POOR_STAR "u* is between "
#define WAVE      "sin(y)*cos(x)"

static void hundred(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = 100.0 * from[0];
  to[1] = 100.0 * from[1];
}

/// Sixty wide, with curved sides.
static void sixty(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = 60.0 * from[0] + 2.0 * sin(4.0 * from[1]);
  to[1] = 60.0 * from[1] + 3.0 * from[0] * from[0];
}

static void strip(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = 1000.0 * from[0];
  to[1] = from[1];
}

/// So small that products of lengths leave double precision.
static void tiny(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = 1e-150 * from[0];
  to[1] = 1e-150 * from[1];
}

/// A mesh, and a problem on it with an exact solution.
typedef struct wave_case {
  int n;
  enum cut cut;
  int geometry;
  moving *to;
  const char *order, *u, *key, *value;  ///< of [space]
  double root_of_area;                  ///< read where u is poor
} wave_case;

static kedge_report report_of_wave(const wave_case *c, const char *key, const char *value)
{
  kedge_mesh *mesh = moved(ctx, c->n, c->cut, c->geometry, c->to);
  const kedge_report r =
      report_of(ctx, mesh,
                SETTINGS({"space", "order", c->order}, {"exact", "u", c->u},
                         {"boundary default", "type", "dirichlet"}, {"space", key, value}));
  kedge_mesh_destroy(mesh);
  assert_true(r.converged);
  return r;
}

static const wave_case poor[] = {
    {24, ALL, 1, hundred, "3", WAVE, "stabilization", "auto", 100.0},
    {20, CHECKERED, 1, hundred, "2", WAVE, "stabilization", "auto", 100.0},
    {14, ALL, 2, sixty, "3", "300+sin(x)+cos(y)", "stabilization", "auto", 60.0},
    {10, ALL, 1, stay, "1", "exp(x)*sin(3*y)", "stabilization", "1e-4", 1.0},
    {12, ALL, 1, strip, "4", "sin(x/30)*cos(y)", "stabilization", "1e-5/h", 31.6},
    {8, ALL, 1, stay, "8", "sin(60*x)*cos(60*y)", "stabilization", "auto", 1.0},
};
enum { POOR = sizeof poor / sizeof *poor };

static void a_u_that_a_small_stabilization_leaves_poor_is_noted(void **state)
{
  (void)state;
  for (int k = 0; k < POOR; ++k) {
    const kedge_report r = report_of_wave(&poor[k], poor[k].key, poor[k].value);
    double off = 0.0, least = 0.0, most = 0.0, times = 0.0;
    const char *const found = strstr(r.solver_note, POOR_U);
    assert_non_null(found);
    assert_int_equal(sscanf(found, POOR_U "%lf where u* runs from %lf to %lf, %lf times", &off,
                            &least, &most, &times),
                     4);
    assert_true(times > 10.0);
    assert_true(r.u_l2 > 4.0 * r.u_star_l2);
    assert_at_most(fabs(off * poor[k].root_of_area - r.u_l2), 0.3 * r.u_l2);
    assert_null(strstr(r.solver_note, POOR_STAR));
  }
}

static void the_length_that_the_note_names_mends_u(void **state)
{
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const kedge_report before = report_of_wave(&poor[k], poor[k].key, poor[k].value);
    const char *const found = strstr(before.solver_note, "a smaller [space] length, as ");
    char length[32];
    assert_non_null(found);
    assert_int_equal(sscanf(found, "a smaller [space] length, as %31s", length), 1);
    const kedge_report after = report_of_wave(&poor[k], "length", length);
    assert_null(strstr(after.solver_note, POOR_U));
    assert_true(after.u_l2 < 0.1 * before.u_l2);
  }
}

/// Quadrilaterals need no stabilization for u, and triangles have enough for solutions of the size
/// of the domain, on coarse meshes too.
static void a_u_as_good_as_its_order_is_not_noted(void **state)
{
  (void)state;
  static const wave_case good[] = {
      {20, WHOLE, 1, hundred, "3", WAVE, "stabilization", "auto"},
      {14, WHOLE, 2, sixty, "2", "sin(x)+cos(y)", "stabilization", "auto"},
      {10, WHOLE, 1, stay, "2", "exp(x)*sin(3*y)", "stabilization", "1e-4"},
      {12, WHOLE, 1, strip, "2", "sin(x/30)*cos(y)", "stabilization", "1e-5/h"},
      {12, ALL, 1, strip, "2", "sin(x/30)*cos(y)", "stabilization", "auto"},
      {8, ALL, 1, stay, "1", "sin(3*x)*sin(3*y)", "stabilization", "auto"},
      {8, ALL, 1, stay, "2", "sin(6*x)*cos(6*y)", "stabilization", "auto"},
      {8, CHECKERED, 3, wave, "3", "exp(2*x)*y", "stabilization", "auto"},
      {2, ALL, 1, stay, "3", "sin(6.3*x)*cos(6.3*y)", "stabilization", "auto"},
      {12, ALL, 1, stay, "2", "1/(1+25*((x-0.5)^2+(y-0.5)^2))", "stabilization", "auto"},
      {2, ALL, 1, stay, "12", "exp(x)*sin(y)", "stabilization", "auto"},
      {6, ALL, 1, stay, "2", "3", "stabilization", "auto"},
      {6, ALL, 1, stay, "2", "3", "stabilization", "1e4"},
  };
  for (size_t k = 0; k < sizeof good / sizeof *good; ++k) {
    const kedge_report r = report_of_wave(&good[k], good[k].key, good[k].value);
    assert_null(strstr(r.solver_note, POOR_U));
    assert_null(strstr(r.solver_note, POOR_STAR));
    assert_null(strstr(r.solver_note, "finite"));
  }
}

/// Reaction and diffusion, whose solution has layers as wide as the root of diffusion / reaction.
typedef struct layer_case {
  int n;
  enum cut cut;
  int geometry;
  moving *to;
  const char *order, *diffusion, *reaction, *source, *type, *value;
} layer_case;

static kedge_report report_of_layer(const layer_case *c, const char *section, const char *key,
                                    const char *value)
{
  kedge_mesh *mesh = moved(ctx, c->n, c->cut, c->geometry, c->to);
  const kedge_report r =
      report_of(ctx, mesh,
                SETTINGS({"space", "order", c->order}, {"equation", "diffusion", c->diffusion},
                         {"equation", "reaction", c->reaction}, {"equation", "source", c->source},
                         {"boundary default", "type", c->type},
                         {"boundary default", "value", c->value}, {section, key, value}));
  kedge_mesh_destroy(mesh);
  assert_true(r.converged);
  return r;
}

static const layer_case thin[] = {
    {8, ALL, 1, stay, "1", "1e-8", "1", "1", "dirichlet", "0"},
    {7, WHOLE, 2, wave, "2", "1e-6", "1", "1", "dirichlet", "0"},
    {9, CHECKERED, 1, stay, "3", "1e-9", "2", "x", "dirichlet", "1-y"},
    {8, ALL, 1, stay, "2", "1e-7", "1", "x>0.5", "neumann", "0"},
    {6, ALL, 2, ring, "4", "1e-8*(1+x)", "1", "301", "dirichlet", "300"},
    {6, WHOLE, 1, stay, "1", "1e-8", "1+x", "0", "dirichlet", "y>0.5"},
    {5, ALL, 1, stay, "9", "1e-10", "1", "1", "dirichlet", "0"},
};
enum { THIN = sizeof thin / sizeof *thin };

static void a_star_beyond_u_and_its_boundary_values_is_noted(void **state)
{
  (void)state;
  for (int k = 0; k < THIN; ++k) {
    const kedge_report r = report_of_layer(&thin[k], "solver", "precision", "double");
    double star[2], u[2], at[2];
    const char *const found = strstr(r.solver_note, POOR_STAR);
    assert_non_null(found);
    assert_int_equal(sscanf(found,
                            POOR_STAR "%lf and %lf where u and its boundary values are between %lf "
                                      "and %lf, most near x = %lf, y = %lf:",
                            &star[0], &star[1], &u[0], &u[1], &at[0], &at[1]),
                     6);
    assert_true(fmax(u[0] - star[0], star[1] - u[1]) > 0.12 * (u[1] - u[0]));
    assert_non_null(strstr(found, "ask for u"));
    assert_null(strstr(r.solver_note, POOR_U));
  }
}

static void layers_are_noted_in_every_precision_but_not_for_means(void **state)
{
  (void)state;
  static const char *const precisions[] = {"mixed", "compact"};
  for (int k = 0; k < 4; ++k) {
    const kedge_report r = report_of_layer(&thin[k / 2], "solver", "precision", precisions[k % 2]);
    assert_non_null(strstr(r.solver_note, POOR_STAR));
  }
  assert_string_equal(report_of_layer(&thin[0], "output", "fields", "cells").solver_note, "");
}

static void layers_that_elements_resolve_are_not_noted(void **state)
{
  (void)state;
  static const layer_case wide[] = {
      {8, ALL, 1, stay, "1", "1e-2", "1", "1", "dirichlet", "0"},
      {8, WHOLE, 2, wave, "3", "1e-3", "1", "1", "dirichlet", "0"},
      {10, ALL, 1, stay, "4", "1e-3", "1", "1", "dirichlet", "0"},
      {8, CHECKERED, 1, stay, "2", "1e-8", "1", "1+x*y", "dirichlet", "1+x*y"},
      {5, ALL, 1, stay, "1", "1", "0", "1", "dirichlet", "0"},
      {2, ALL, 1, stay, "1", "1", "0", "1", "dirichlet", "0"},
      {3, ALL, 1, stay, "1", "1", "10", "sin(3*x)", "neumann", "1"},
      {2, WHOLE, 1, stay, "1", "1", "0", "1", "dirichlet", "0"},
      {8, ALL, 1, stay, "3", "1", "0", "0", "dirichlet", "x>0.5"},
      {6, ALL, 1, stay, "2", "1e-8", "1", "7", "dirichlet", "7"},
      {6, ALL, 1, stay, "2", "1", "1", "7", "neumann", "0"},
  };
  for (size_t k = 0; k < sizeof wide / sizeof *wide; ++k) {
    const kedge_report r = report_of_layer(&wide[k], "solver", "precision", "double");
    assert_null(strstr(r.solver_note, POOR_STAR));
    assert_null(strstr(r.solver_note, POOR_U));
  }
}

static void each_solution_of_a_solver_has_its_own_note(void **state)
{
  (void)state;
  static const char *const sources[] = {"1", "0*x", "1+x", "0", "2", "0"};
  enum { N = sizeof sources / sizeof *sources };
  kedge_mesh *mesh = square_mesh(ctx, 8);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "1e-8"},
                    {"equation", "reaction", "1"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "0"}));
  kedge_solver *solver = NULL;
  kedge_data data[N];
  const kedge_data *given[N];
  kedge_solution *solutions[N] = {NULL};
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  for (int i = 0; i < N; ++i) {
    data[i] = (kedge_data)KEDGE_DATA_INIT;
    data[i].source = sources[i];
    given[i] = &data[i];
  }
  must(ctx, kedge_solver_solve_many(solver, N, given, solutions));
  for (int i = 0; i < N; ++i) {
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_solution_report(solutions[i], &r));
    assert_true((strstr(r.solver_note, POOR_STAR) != NULL) == (i % 2 == 0));
    kedge_solution_destroy(solutions[i]);
  }
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// How many values of a field at nodes are not finite.
static int lost_values(const kedge_solution *s, kedge_field field, int order, size_t n)
{
  double *const values = malloc(n * sizeof *values);
  int lost = 0;
  assert_non_null(values);
  must(ctx, kedge_solution_values(s, field, order, values));
  for (size_t i = 0; i < n; ++i) lost += !isfinite(values[i]);
  free(values);
  return lost;
}

/// Whether a field has numbers that are not finite at the nodes of order P or P + 1.
static bool is_lost(const kedge_solution *s, kedge_field field)
{
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(s, &r));
  int64_t *const offsets = malloc(((size_t)r.elements + 1) * sizeof *offsets);
  int lost = 0;
  assert_non_null(offsets);
  for (int more = 0; more < 2; ++more) {
    must(ctx, kedge_solution_offsets(s, r.order + more, offsets));
    lost += lost_values(s, field, r.order + more, (size_t)offsets[r.elements]);
  }
  free(offsets);
  return lost > 0;
}

/// Fields that are not finite although u is, and the words of the note.
static void a_field_that_is_not_finite_beside_u_is_noted_with_a_place(void **state)
{
  (void)state;
  static const struct {
    int n;
    enum cut cut;
    int geometry;
    moving *to;
    const char *order, *diffusion, *value;
    kedge_field field;
    const char *note;
  } cases[] = {
      {8, ALL, 1, stay, "2", "1e-200+abs(x-0.5)", "0", KEDGE_FIELD_QX,
       "q = diffusion^-1 sigma is not finite at x = 0.5, y = "},
      {7, WHOLE, 1, stay, "1", "1e-180+abs(y-0.5)", "x", KEDGE_FIELD_QY,
       "y = 0.5, where diffusion is 1e-180"},
      {4, CHECKERED, 1, stay, "3", "1e-170+(x-0.25)^2, 0, 1e-170+(x-0.25)^2", "0", KEDGE_FIELD_QX,
       "x = 0.25, y = "},
      {100, ALL, 1, stay, "1", "(y<0.02)?1e-200+abs(x-0.5):1", "0", KEDGE_FIELD_QX,
       "is not finite at x = 0.5, y = 0"},
      {60, WHOLE, 1, stay, "2", "(x>0.97)?1e-180+(y-0.5)^2:2", "x", KEDGE_FIELD_QY,
       "y = 0.5, where diffusion is 1e-180"},
      {8, ALL, 1, stay, "1", "sin(x+y)/sin(x+y)", "0", KEDGE_FIELD_QX,
       "at x = 0, y = 0, where diffusion is not a number: "},
      {5, WHOLE, 1, stay, "2", "2+(abs(x-1)+y)/(abs(x-1)+y), 0, 3", "x", KEDGE_FIELD_QX,
       "at x = 1, y = 0, where diffusion is not a number: "},
      {6, ALL, 2, stay, "2", "1e-190+abs(x-y)", "1", KEDGE_FIELD_QX, "is not finite at x = "},
      {5, ALL, 1, stay, "2", "1e200", "1e120*x", KEDGE_FIELD_SIGMA_X,
       "sigma is not finite in the element at x = "},
      {5, WHOLE, 2, wave, "1", "1e200", "1e120*y", KEDGE_FIELD_SIGMA_Y,
       "sigma is not finite in the element at x = "},
      {4, ALL, 1, tiny, "2", "1", "1e290*x", KEDGE_FIELD_U_STAR,
       "u* is not finite in the element at x = "},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    kedge_mesh *mesh = moved(ctx, cases[k].n, cases[k].cut, cases[k].geometry, cases[k].to);
    const setting *const settings = SETTINGS(
        {"space", "order", cases[k].order}, {"equation", "diffusion", cases[k].diffusion},
        {"boundary default", "type", "dirichlet"}, {"boundary default", "value", cases[k].value});
    kedge_solution *s = solve(ctx, mesh, settings);
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_solution_report(s, &r));
    assert_true(is_lost(s, cases[k].field));
    assert_false(is_lost(s, KEDGE_FIELD_U));
    assert_true(cases[k].field == KEDGE_FIELD_U_STAR || !is_lost(s, KEDGE_FIELD_U_STAR));
    if (!strstr(r.solver_note, cases[k].note)) fail_msg("case %zu: %s", k, r.solver_note);
    assert_noted_by_all(ctx, mesh, settings, r.solver_note);
    kedge_solution_destroy(s);
    kedge_mesh_destroy(mesh);
  }
}

static void a_u_that_is_not_finite_is_refused_with_a_place(void **state)
{
  (void)state;
  static const double vertices[] = {0, 0, 1, 0, 0, 1};
  static const int32_t corners[] = {0, 1, 2};
  static const char *const values[] = {"1e308*x", "1.7e308*(x+y)"};
  kedge_mesh *mesh = NULL;
  const kedge_mesh_arrays arrays = {
      .n_vertices = 3, .vertices = vertices, .n_triangles = 1, .triangles = corners};
  must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  for (int k = 0; k < 2; ++k) {
    kedge_problem *problem =
        problem_of(ctx, SETTINGS({"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", values[k]}));
    const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC);
    assert_non_null(
        strstr(sentence, "u is not finite in the element at x = 0.333333, y = 0.333333"));
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void an_error_whose_squares_leave_double_precision_is_noted(void **state)
{
  (void)state;
  const kedge_report r = report_on(
      ctx, "square 4",
      SETTINGS({"exact", "u", "1e160*x"}, {"equation", "source", "1"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}));
  assert_true(isinf(r.u_l2));
  assert_non_null(strstr(r.solver_note, "the error of u is not finite in the element at x = "));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_u_that_a_small_stabilization_leaves_poor_is_noted),
      cmocka_unit_test(the_length_that_the_note_names_mends_u),
      cmocka_unit_test(a_u_as_good_as_its_order_is_not_noted),
      cmocka_unit_test(a_star_beyond_u_and_its_boundary_values_is_noted),
      cmocka_unit_test(layers_are_noted_in_every_precision_but_not_for_means),
      cmocka_unit_test(layers_that_elements_resolve_are_not_noted),
      cmocka_unit_test(each_solution_of_a_solver_has_its_own_note),
      cmocka_unit_test(a_field_that_is_not_finite_beside_u_is_noted_with_a_place),
      cmocka_unit_test(a_u_that_is_not_finite_is_refused_with_a_place),
      cmocka_unit_test(an_error_whose_squares_leave_double_precision_is_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

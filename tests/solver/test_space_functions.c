// Functions of the caller, arrays and solutions as data on tetrahedra, of one solve and of many.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/generate.h"
#include "support.h"

/// `cube n` whose tetrahedra at x > 1/2 are region 2, with vertices inside moved.
static kedge_mesh *halves(int n)
{
  const kg_form_args args = {.n = n, .pattern = KG_PATTERN_TETRAHEDRA};
  kg_raw_mesh raw = {0};
  kedge_mesh *mesh = NULL;
  must(ctx, kg_form_cube(ctx, &args, &raw));
  for (int64_t e = 0; e < raw.n_elements; ++e) {
    double sum = 0.0;
    for (int l = 0; l < 4; ++l) sum += raw.vertices[3 * (int64_t)raw.corners[4 * e + l]];
    raw.regions[e] = sum > 2.0 ? 2 : 1;
  }
  for (int64_t v = 0; v < raw.n_vertices; ++v) {
    double *const x = raw.vertices + 3 * v;
    bool inside = true;
    for (int k = 0; k < 3; ++k) inside = inside && x[k] > 1e-9 && x[k] < 1.0 - 1e-9;
    for (int k = 0; inside && k < 3; ++k) x[k] += 0.12 / n * sin(12.9898 * (double)(3 * v + k));
  }
  must(ctx, kg_mesh_build(ctx, &raw, "cube", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}

/// A function of the caller: which of those below `user` points to.
typedef double place_function(const kedge_points *p, size_t i);

static void evaluate(void *user, const kedge_points *points, double *value)
{
  place_function *const *const function = user;
  for (size_t i = 0; i < points->n; ++i) value[i] = (*function)(points, i);
}

#define FUNCTION(name, of)                              \
  static double name(const kedge_points *p, size_t i)   \
  {                                                     \
    const double x = p->x[i], y = p->y[i], z = p->z[i]; \
    (void)x, (void)y, (void)z;                          \
    return of;                                          \
  }                                                     \
  static place_function *name##_at = name;

// A symmetric positive definite tensor, and u = exp(x + y/2) sin(2 z) with its gradient.
#define XX "2 + x"
#define XY "0.5*y"
#define XZ "-0.2*z"
#define YY "1.5 + y"
#define YZ "0.3*x"
#define ZZ "3 - x*z"
#define U  "exp(x + y/2)*sin(2*z)"
FUNCTION(xx, 2 + x)
FUNCTION(xy, 0.5 * y)
FUNCTION(xz, -0.2 * z)
FUNCTION(yy, 1.5 + y)
FUNCTION(yz, 0.3 * x)
FUNCTION(zz, 3 - x * z)
FUNCTION(reaction, 1 + y * z)
FUNCTION(source, x + exp(y * z))
FUNCTION(u, exp(x + y / 2) * sin(2 * z))
FUNCTION(du_dx, exp(x + y / 2) * sin(2 * z))
FUNCTION(du_dy, exp(x + y / 2) * sin(2 * z) / 2)
FUNCTION(du_dz, exp(x + y / 2) * 2 * cos(2 * z))
FUNCTION(robin, 1 + x * z)
/// n . (1, 2, 3): normals have three parts.
FUNCTION(through, p->normal_x[i] + 2 * p->normal_y[i] + 3 * p->normal_z[i])

static void *tensor_at[6] = {&xx_at, &xy_at, &xz_at, &yy_at, &yz_at, &zz_at};
static kedge_function *const six[6] = {evaluate, evaluate, evaluate, evaluate, evaluate, evaluate};

static kedge_solution *solve_with(const kedge_mesh *mesh, const kedge_problem *problem)
{
  kedge_solution *s;
  must(ctx, kedge_solve(ctx, mesh, problem, &s));
  return s;
}

static void set_function(kedge_problem *p, const char *section, const char *key, void *user)
{
  must(ctx, kedge_problem_set_function(p, section, key, evaluate, user));
}

static void assert_same_fields(const kedge_solution *a, const kedge_solution *b, double tolerance)
{
  enum { NODES = 20, ORDER = 3 };
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(a, &r));
  const size_t n = (size_t)r.elements * NODES;
  double *const values = malloc(2 * n * sizeof *values);
  assert_non_null(values);
  for (kedge_field f = 0; f < KEDGE_FIELD_COUNT; ++f) {
    must(ctx, kedge_solution_values(a, f, ORDER, values));
    must(ctx, kedge_solution_values(b, f, ORDER, values + n));
    assert_close(n, values, values + n, tolerance);
  }
  free(values);
}

/// Fields and errors of a problem of text and one of functions.
static void assert_same_problems(const kedge_mesh *mesh, kedge_problem *text, kedge_problem *calls,
                                 bool exact)
{
  kedge_solution *const a = solve_with(mesh, text), *const b = solve_with(mesh, calls);
  kedge_report r[2] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
  assert_same_fields(a, b, 1e-10);
  must(ctx, kedge_solution_report(a, &r[0]));
  must(ctx, kedge_solution_report(b, &r[1]));
  if (exact) {
    assert_true(r[0].u_l2 > 0.0 && r[0].q_l2 > 0.0);
    assert_at_most(fabs(r[1].u_l2 - r[0].u_l2), 1e-9 * r[0].u_l2);
    assert_at_most(fabs(r[1].q_l2 - r[0].q_l2), 1e-9 * r[0].q_l2);
    assert_at_most(fabs(r[1].sigma_l2 - r[0].sigma_l2), 1e-9 * r[0].sigma_l2);
    assert_at_most(fabs(r[1].u_star_l2 - r[0].u_star_l2), 1e-8 * r[0].u_star_l2);
  }
  kedge_solution_destroy(a);
  kedge_solution_destroy(b);
  kedge_problem_destroy(text);
  kedge_problem_destroy(calls);
}

#define COMMON                                                                       \
  {"space", "order", "2"}, {"solver", "tolerance", "1e-13"},                         \
      {"boundary default", "type", "dirichlet"}, {"boundary x0", "type", "neumann"}, \
      {"boundary z1", "type", "neumann"},                                            \
  {                                                                                  \
    "boundary y1", "type", "robin"                                                   \
  }

static void functions_of_the_caller_have_the_solution_of_their_text(void **state)
{
  (void)state;
  kedge_mesh *mesh = halves(2);
  kedge_problem *text = problem_of(
      ctx, SETTINGS(COMMON, {"equation", "diffusion", XX "," XY "," XZ "," YY "," YZ "," ZZ},
                    {"equation", "reaction", "1 + y*z"}, {"equation", "source", "x + exp(y*z)"},
                    {"exact", "u", U}, {"boundary y1", "coefficient", "1 + x*z"},
                    {"boundary x0", "value", "-1"}));
  kedge_problem *calls = problem_of(ctx, SETTINGS(COMMON));
  must(ctx, kedge_problem_set_tensor_space(calls, "equation", six, tensor_at));
  set_function(calls, "equation", "reaction", &reaction_at);
  set_function(calls, "equation", "source", &source_at);
  set_function(calls, "boundary y1", "coefficient", &robin_at);
  set_function(calls, "boundary x0", "value", &through_at);  // n = (-1, 0, 0)
  const kedge_setting exact = {"exact",
                               "u",
                               NULL,
                               {evaluate, evaluate, evaluate, evaluate},
                               {&u_at, &du_dx_at, &du_dy_at, &du_dz_at}};
  must(ctx, kedge_problem_set_all(calls, 1, &exact));
  assert_same_problems(mesh, text, calls, true);
  kedge_mesh_destroy(mesh);
}

/// In one region a number, in the other a tensor, as text, as functions and as arrays.
static void functions_and_arrays_by_region_have_the_solution_of_their_text(void **state)
{
  (void)state;
  kedge_mesh *mesh = halves(2);
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  const size_t n = (size_t)info.elements;
  double *const numbers = malloc(6 * n * sizeof *numbers);
  assert_non_null(numbers);
  static const double of[6] = {2, 0.5, -0.3, 1.5, 0.7, 3.5};
  void *arrays[6];
  kedge_function *by_element[6];
  for (size_t k = 0; k < 6; ++k) {
    by_element[k] = kedge_by_element;
    arrays[k] = numbers + k * n;
    for (size_t e = 0; e < n; ++e) numbers[k * n + e] = of[k];
  }
  for (int is_array = 0; is_array < 2; ++is_array) {
    const char *const tensor =
        is_array ? "2, 0.5, -0.3, 1.5, 0.7, 3.5" : XX "," XY "," XZ "," YY "," YZ "," ZZ;
    kedge_problem *text = problem_of(
        ctx, SETTINGS(COMMON, {"region 1", "diffusion", "3"}, {"region 2", "diffusion", tensor},
                      {"region 2", "source", "x + exp(y*z)"}, {"region 1", "source", "2"},
                      {"boundary default", "value", U}, {"boundary x0", "value", "1"},
                      {"boundary y1", "value", "0"}, {"boundary z1", "value", "3"},
                      {"boundary y1", "coefficient", "2"}));
    kedge_problem *calls = problem_of(
        ctx, SETTINGS(COMMON, {"region 1", "diffusion", "3"}, {"region 1", "source", "2"},
                      {"boundary x0", "value", "1"}, {"boundary y1", "value", "0"},
                      {"boundary y1", "coefficient", "2"}));
    must(ctx, kedge_problem_set_tensor_space(calls, "region 2", is_array ? by_element : six,
                                             is_array ? arrays : tensor_at));
    set_function(calls, "region 2", "source", &source_at);
    set_function(calls, "boundary default", "value", &u_at);
    set_function(calls, "boundary z1", "value", &through_at);  // n = (0, 0, 1)
    assert_same_problems(mesh, text, calls, false);
  }
  free(numbers);
  kedge_mesh_destroy(mesh);
}

static void assert_refused(const kedge_mesh *mesh, kedge_problem *problem, const char *sentence)
{
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), sentence);
  kedge_problem_destroy(problem);
}

static void functions_of_the_other_dimension_are_refused(void **state)
{
  (void)state;
  kedge_mesh *cube = halves(1), *square = square_mesh(ctx, 2);
#define DIRICHLET                                                     \
  problem_of(ctx, SETTINGS({"boundary default", "type", "dirichlet"}, \
                           {"boundary default", "value", "0"}, {"equation", "source", "1"}))
  kedge_problem *p = DIRICHLET;
  must(ctx, kedge_problem_set_exact(p, evaluate, evaluate, evaluate, &u_at));
  assert_refused(cube, p,
                 "the exact solution is a function with two derivatives, and cube is a mesh of "
                 "space: give u, du_dx, du_dy and du_dz");
  p = DIRICHLET;
  must(ctx, kedge_problem_set_exact_space(p, evaluate, evaluate, evaluate, evaluate, &u_at));
  assert_refused(square, p,
                 "the exact solution is a function with three derivatives, and square 2 is a mesh "
                 "of the plane: give u, du_dx and du_dy");
  p = DIRICHLET;
  must(ctx, kedge_problem_set_tensor(p, "equation", six, tensor_at));
  assert_refused(cube, p,
                 "diffusion is a tensor of three numbers, xx, xy, yy, and cube is a mesh of space: "
                 "write six numbers, xx, xy, xz, yy, yz, zz");
  p = DIRICHLET;
  must(ctx, kedge_problem_set_tensor_space(p, "equation", six, tensor_at));
  assert_refused(square, p,
                 "diffusion is a tensor of six numbers, xx, xy, xz, yy, yz, zz, and square 2 is a "
                 "mesh of the plane: write three numbers, xx, xy, yy");
  kedge_mesh_destroy(cube);
  kedge_mesh_destroy(square);
}

/// Sources and values one after another: those of solves of their own.
static void a_solver_takes_new_data_one_after_another(void **state)
{
  (void)state;
  enum { SOLVES = 4 };
  static const char *const source[SOLVES] = {"x + exp(y*z)", "2", "x*z", "sin(5*z)"};
  static const char *const value[SOLVES] = {"y", "z^2", "x*y*z", "1"};
  kedge_mesh *mesh = halves(2);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"solver", "tolerance", "1e-13"},
                    {"equation", "diffusion", "1 + x*z"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "0"}, {"boundary x0", "type", "neumann"},
                    {"boundary x0", "value", "1"}));
  kedge_solver *solver;
  kedge_solution *made = NULL, *many[SOLVES] = {NULL};
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  kedge_boundary_value values[SOLVES];
  kedge_data data[SOLVES];
  const kedge_data *list[SOLVES];
  for (int i = 0; i < SOLVES; ++i) {
    values[i] = (kedge_boundary_value){.group = "default", .text = value[i]};
    data[i] = (kedge_data)KEDGE_DATA_INIT;
    data[i].source = source[i];
    data[i].n_values = 1;
    data[i].values = &values[i];
    if (i == 0) data[i].source = NULL, data[i].source_function = evaluate;
    if (i == 0) data[i].source_user = &source_at;
    list[i] = &data[i];
  }
  must(ctx, kedge_solver_solve_many(solver, SOLVES, list, many));
  for (int i = 0; i < SOLVES; ++i) {
    must(ctx, kedge_problem_set(problem, "equation", "source", source[i]));
    must(ctx, kedge_problem_set(problem, "boundary default", "value", value[i]));
    kedge_solution *const alone = solve_with(mesh, problem);
    must(ctx, kedge_solver_update(solver));
    must(ctx, kedge_solver_solve(solver, &data[(i + 1) % SOLVES], &made));  // which leaves no trace
    must(ctx, kedge_solver_solve(solver, &data[i], &made));
    assert_same_fields(alone, made, 1e-11);
    assert_same_fields(alone, many[i], 1e-11);
    data[i].start = made;  // near: nothing is left to do
    must(ctx, kedge_solver_solve(solver, &data[i], &made));
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_solution_report(made, &r));
    assert_true(r.converged && r.iterations <= 1 && r.start_residual < 1e-12);
    data[i].start = NULL;
    kedge_solution_destroy(alone);
    kedge_solution_destroy(many[i]);
  }
  kedge_solution_destroy(made);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// Coefficients change in the memory that is there.
static void an_update_has_the_solution_of_a_new_solver(void **state)
{
  (void)state;
  static const char *const diffusion[] = {"1", "2, 0.5, -0.3, 1.5, 0.7, 3.5", "1 + x*z",
                                          XX "," XY "," XZ "," YY "," YZ "," ZZ, "3"};
  kedge_mesh *mesh = halves(2);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"solver", "tolerance", "1e-13"},
                    {"equation", "source", "exp(x)"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "y*z"}));
  kedge_solver *solver;
  kedge_solution *made = NULL;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  for (size_t i = 0; i < sizeof diffusion / sizeof *diffusion; ++i) {
    must(ctx, kedge_problem_set(problem, "equation", "diffusion", diffusion[i]));
    kedge_solution *const alone = solve_with(mesh, problem);
    must(ctx, kedge_solver_update(solver));
    must(ctx, kedge_solver_solve(solver, NULL, &made));
    assert_same_fields(alone, made, 1e-11);
    kedge_solution_destroy(alone);
  }
  kedge_solution_destroy(made);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// u* of a solution at points; NaN, which is refused, where a field is not that of the polynomial
/// that it is.
static void fields_at(void *user, const kedge_points *points, double *value)
{
  static const kedge_field wanted[] = {KEDGE_FIELD_QZ, KEDGE_FIELD_SIGMA_Z, KEDGE_FIELD_U_STAR};
  for (int k = 0; k < 3; ++k) {
    double *const got = malloc(points->n * sizeof *got);
    const bool known = got && kedge_solution_at(user, wanted[k], points, got) == KEDGE_OK;
    for (size_t i = 0; i < points->n; ++i) {
      const double x = points->x[i], y = points->y[i], z = points->z[i];
      const double is[3] = {-2 * z, (1 + x) * -2 * z, x * y - z * z + y};
      const bool good = known && fabs(got[i] - is[k]) < 1e-10 && (k == 0 || !isnan(value[i]));
      value[i] = good ? got[i] : NAN;
    }
    free(got);
  }
}

static void a_solution_is_a_source_of_another_solve(void **state)
{
  (void)state;
  kedge_mesh *mesh = halves(2);
  kedge_solution *first =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "2"}, {"exact", "u", "x*y - z^2 + y"},
                     {"equation", "diffusion", "1 + x"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "tolerance", "1e-14"}));
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"equation", "source", "x*y - z^2 + y"},
                    {"solver", "tolerance", "1e-13"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "0"}));
  kedge_solution *const text = solve_with(mesh, problem);
  kedge_solver *solver;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  kedge_function *const functions[] = {kedge_by_solution, fields_at};
  for (int i = 0; i < 2; ++i) {
    kedge_data data = KEDGE_DATA_INIT;
    kedge_solution *made = NULL;
    data.source_function = functions[i];
    data.source_user = first;
    must(ctx, kedge_solver_solve(solver, &data, &made));
    assert_same_fields(text, made, 1e-11);
    kedge_solution_destroy(made);
  }
  kedge_solver_destroy(solver);
  // Diffusion and boundary values, too.
  kedge_problem *data = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"equation", "source", "1"},
                    {"solver", "tolerance", "1e-13"}, {"boundary default", "type", "dirichlet"}));
  must(ctx, kedge_problem_set(problem, "equation", "source", "1"));
  must(ctx, kedge_problem_set(problem, "equation", "reaction", "2"));
  must(ctx, kedge_problem_set(data, "equation", "reaction", "2"));
  must(ctx, kedge_problem_set(problem, "boundary default", "value", "x*y - z^2 + y"));
  must(ctx,
       kedge_problem_set_function(data, "boundary default", "value", kedge_by_solution, first));
  assert_same_problems(mesh, problem, data, false);
  kedge_solution_destroy(text);
  kedge_solution_destroy(first);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_of_the_caller_have_the_solution_of_their_text),
      cmocka_unit_test(functions_and_arrays_by_region_have_the_solution_of_their_text),
      cmocka_unit_test(functions_of_the_other_dimension_are_refused),
      cmocka_unit_test(a_solver_takes_new_data_one_after_another),
      cmocka_unit_test(an_update_has_the_solution_of_a_new_solver),
      cmocka_unit_test(a_solution_is_a_source_of_another_solve),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// Fields of a solution at points, and as data of another solve: against the same data as text.
#include <math.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "data_case.h"
#include "support.h"

/// A polynomial that u* holds without an error, and the problem that has it as solution.
#define POLYNOMIAL "2 + x*y - y*y/2 + x"

static kedge_solution *polynomial_on(const kedge_mesh *mesh)
{
  return solve(ctx, mesh,
               SETTINGS({"exact", "u", POLYNOMIAL}, {"boundary default", "type", "dirichlet"},
                        {"space", "order", "4"}, {"solver", "tolerance", "1e-14"}));
}

typedef struct reading {
  const kedge_solution *solution;
  double worst;
} reading;

/// A source that looks at all fields of a solution where it is asked.
static void compare_fields(void *user, const kedge_points *points, double *value)
{
  reading *const r = user;
  double worst = 0.0;
  for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field) {
    if (kedge_solution_at(r->solution, (kedge_field)field, points, value) != KEDGE_OK)
      worst = INFINITY;
    for (size_t i = 0; i < points->n; ++i) {
      const double x = points->x[i], y = points->y[i];
      const double exact[KEDGE_FIELD_COUNT_PLANE] = {
          [KEDGE_FIELD_U] = 2.0 + x * y - y * y / 2.0 + x,
          [KEDGE_FIELD_U_STAR] = 2.0 + x * y - y * y / 2.0 + x,
          [KEDGE_FIELD_QX] = y + 1.0,
          [KEDGE_FIELD_QY] = x - y,
          [KEDGE_FIELD_SIGMA_X] = y + 1.0,
          [KEDGE_FIELD_SIGMA_Y] = x - y};
      worst = fmax(worst, fabs(value[i] - exact[field]));
    }
  }
#pragma omp critical
  r->worst = fmax(r->worst, worst);
}

static void points_in_any_order_have_the_values_that_they_have_alone(void **state)
{
  enum { PLACES = 23, MOST = 4000 };
  static double r[MOST], s[MOST], together[MOST], alone;
  static int32_t place[MOST];
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_solution *solution = polynomial_on(mesh);
    kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
    must(ctx, kedge_mesh_get_info(mesh, &info));
    const int n = PLACES * (int)info.elements;
    assert_in_range(n, 800, MOST);  // more than are looked at together
    for (int k = 0; k < n; ++k) {   // element after element, and places that some of them share
      place[k] = k / PLACES;
      r[k] = -0.9 + 0.03 * (k % PLACES);
      s[k] = -0.5 - 0.02 * (k % (PLACES - (k / PLACES) % 3));
    }
    for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field) {
      const kedge_points all = {.n = (size_t)n, .mesh = mesh, .place = place, .r = r, .s = s};
      must(ctx, kedge_solution_at(solution, (kedge_field)field, &all, together));
      for (int k = 0; k < n; ++k) {
        const kedge_points one = {.n = 1, .mesh = mesh, .place = place + k, .r = r + k, .s = s + k};
        must(ctx, kedge_solution_at(solution, (kedge_field)field, &one, &alone));
        assert_true(together[k] == alone);
      }
    }
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
  }
}

static void fields_are_found_at_the_points_of_a_solve(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS - 1; ++i) {  // on curves no polynomial of x and y is one of r and s
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_solution *solution = polynomial_on(mesh);
    reading inside = {.solution = solution}, around = {.solution = solution};
    kedge_problem *problem = problem_of(ctx, SETTINGS({"space", "order", "2"}));
    must(ctx, kedge_problem_set_source(problem, compare_fields, &inside));
    must(ctx, kedge_problem_set_boundary(problem, "default", KEDGE_BOUNDARY_DIRICHLET,
                                         compare_fields, &around));
    kedge_solution_destroy(solve_problem(ctx, mesh, problem));
    assert_at_most(inside.worst, 1e-10);
    assert_at_most(around.worst, 1e-10);
    kedge_problem_destroy(problem);
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
  }
}

/// Source, reaction, diffusion and boundary values are the solution of another problem, or the
/// polynomial that this is.
static void a_solution_as_data_is_the_function_that_it_is(void **state)
{
  (void)state;
  static const char *const where[][2] = {{"equation", "source"},
                                         {"equation", "reaction"},
                                         {"equation", "diffusion"},
                                         {"boundary 1", "value"}};
  for (int i = 0; i < GRIDS - 1; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_solution *solution = polynomial_on(mesh);
    for (size_t k = 0; k < sizeof where / sizeof *where; ++k) {
      const setting *const settings = SETTINGS(
          {"boundary default", "type", "neumann"}, {"boundary default", "value", "x"},
          {"boundary 1", "type", "dirichlet"}, {"boundary 1", "value", "y"},
          {"equation", "source", "1"}, {"space", "order", "2"},
          {"solver", "preconditioner", "multigrid"},
          {"solver", "precision", k % 2 ? "double" : "compact"}, {"solver", "tolerance", "1e-13"});
      kedge_problem *text = problem_of(ctx, settings), *data = problem_of(ctx, settings);
      must(ctx, kedge_problem_set(text, where[k][0], where[k][1], POLYNOMIAL));
      must(ctx,
           kedge_problem_set_function(data, where[k][0], where[k][1], kedge_by_solution, solution));
      assert_same(ctx, mesh, text, data, 1e-9);
      kedge_problem_destroy(text);
      kedge_problem_destroy(data);
    }
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
  }
}

/// 1 + u^2 of the solution before; of none, 1.
static void conductivity(void *user, const kedge_points *points, double *value)
{
  const kedge_solution *const before = *(kedge_solution **)user;
  const bool known =
      before && kedge_solution_at(before, KEDGE_FIELD_U_STAR, points, value) == KEDGE_OK;
  for (size_t i = 0; i < points->n; ++i) value[i] = known ? 1.0 + value[i] * value[i] : 1.0;
}

/// The error of u* of -div((1 + u^2) grad u) = f, u = sin(x) cos(y), by Picard's iteration.
static double picard(const struct grid *grid, int n, const char *order)
{
  kedge_mesh *mesh = mesh_of(ctx, grid, n);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", order}, {"exact", "u", "sin(x)*cos(y)"},
                    {"equation", "source",
                     "2*sin(x)*cos(y)*(1 + sin(x)^2*cos(y)^2 - cos(x)^2*cos(y)^2"
                     " - sin(x)^2*sin(y)^2)"},
                    {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-13"}));
  kedge_solution *before = NULL;
  kedge_solver *solver;
  must(ctx, kedge_problem_set_function(problem, "equation", "diffusion", conductivity, &before));
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(ctx, kedge_solver_plan(ctx, mesh, problem, &plan));
  const int64_t bytes = ctx->bytes_in_use + plan.solution_bytes;
  for (int k = 0; k < 10; ++k) {
    kedge_solution *next = NULL;
    kedge_data data = KEDGE_DATA_INIT;
    data.start = before;
    must(ctx, kedge_solver_solve(solver, &data, &next));
    kedge_solution_destroy(before);
    before = next;
    must(ctx, kedge_solver_update(solver));
    assert_int_equal(ctx->bytes_in_use, bytes);
  }
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(before, &report));
  kedge_solver_destroy(solver);
  kedge_solution_destroy(before);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  return report.u_star_l2;
}

static void picards_iteration_has_the_order_of_a_linear_problem(void **state)
{
  (void)state;
  const struct grid curved = {CHECKERED, 3, wave};
  const struct {
    const struct grid *grid;
    const char *order;
    double rate;
  } cases[] = {{&grids[0], "1", 3.0}, {&grids[0], "3", 5.0}, {&curved, "2", 4.0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const double coarse = picard(cases[i].grid, 3, cases[i].order);
    const double fine = picard(cases[i].grid, 6, cases[i].order);
    if (!(log2(coarse / fine) > cases[i].rate - 0.4))
      fail_msg("case %zu: errors %.2e, %.2e", i, coarse, fine);
  }
}

static void solutions_of_other_meshes_and_without_fields_are_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 3), *other = square_mesh(ctx, 3);
  const setting *const zero =
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "1"});
  kedge_solution *solution = solve(ctx, other, zero), *means;
  kedge_problem *problem = problem_of(ctx, zero);
  must(ctx, kedge_problem_set_source(problem, kedge_by_solution, solution));
  assert_refused(ctx, mesh, problem, KEDGE_ERR_INPUT, "the solution is of another mesh object");
  must(ctx, kedge_problem_set(problem, "equation", "source", "1"));
  must(ctx, kedge_problem_set(problem, "output", "fields", "cells"));
  means = solve_problem(ctx, mesh, problem);
  must(ctx, kedge_problem_set_boundary(problem, "default", KEDGE_BOUNDARY_DIRICHLET,
                                       kedge_by_solution, means));
  assert_refused(ctx, mesh, problem, KEDGE_ERR_INPUT, "the solution has means alone");
  kedge_solution_destroy(means);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(other);
}

/// u* of a solution, by a function that the library does not know.
static void by_another(void *user, const kedge_points *points, double *value)
{
  must(ctx, kedge_solution_at(user, KEDGE_FIELD_U_STAR, points, value));
}

/// Solve with a solution of another order as the source, as a source that the device may read, and
/// through a function.
static void check_source(const kedge_mesh *mesh, kedge_problem *of, kedge_problem *problem)
{
  kedge_solver *solvers[2];
  kedge_solution *source = NULL, *made[2] = {NULL};
  must(ctx, kedge_solver_create(ctx, mesh, of, &solvers[0]));
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solvers[1]));
  must(ctx, kedge_solver_solve(solvers[0], NULL, &source));
  kedge_function *const functions[] = {kedge_by_solution, by_another};
  for (int i = 0; i < 2; ++i) {
    kedge_data data = KEDGE_DATA_INIT;
    data.source_function = functions[i];
    data.source_user = source;
    must(ctx, kedge_solver_solve(solvers[1], &data, &made[i]));
  }
  fields a = fields_of(ctx, made[0]), b = fields_of(ctx, made[1]);
  assert_at_most(fields_distance(&a, &b), 1e-11);
  fields_free(&a);
  fields_free(&b);
  for (int i = 0; i < 2; ++i) {
    kedge_solution_destroy(made[i]);
    kedge_solver_destroy(solvers[i]);
  }
  kedge_solution_destroy(source);
}

static void a_solution_that_the_device_reads_is_the_same_source(void **state)
{
  (void)state;
  static const struct {
    const char *generate, *from, *order, *section, *key, *value;
  } cases[] = {{"square 7", "1", "1", "equation", "diffusion", "0.3"},
               {"square 7", "1", "4", "equation", "diffusion", "2, 0.5, 1"},
               {"square 7", "3", "1", "equation", "reaction", "1.5"},
               {"square 7", "2", "2", "solver", "precision", "compact"},
               {"square 7", "2", "3", "equation", "diffusion", "1 + x"},
               {"square 7", "2", "3", "equation", "quadrature", "9"},
               {"quads 5", "2", "2", "equation", "diffusion", "1"},
               {"disk 3", "2", "2", "equation", "diffusion", "1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"mesh", "generate", cases[i].generate}, {"equation", "source", "1 + x*y"},
                      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                      {"space", "order", cases[i].from}, {"solver", "preconditioner", "multigrid"},
                      {"solver", "tolerance", "1e-13"}));
    kedge_problem *other = problem_of(
        ctx, SETTINGS({"mesh", "generate", cases[i].generate}, {"space", "order", cases[i].order},
                      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "y"},
                      {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-13"},
                      {cases[i].section, cases[i].key, cases[i].value}));
    kedge_mesh *mesh;
    must(ctx, kedge_problem_mesh(problem, &mesh));
    check_source(mesh, problem, other);
    kedge_mesh_destroy(mesh);
    kedge_problem_destroy(problem);
    kedge_problem_destroy(other);
  }
}

static void a_source_is_not_overwritten_by_its_own_solve(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 3);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "1"}));
  kedge_solver *solver;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  kedge_solution *solution = NULL;
  must(ctx, kedge_solver_solve(solver, NULL, &solution));
  kedge_data data = KEDGE_DATA_INIT;
  data.source_function = kedge_by_solution;
  data.source_user = solution;
  kedge_solution *other = NULL;
  must(ctx, kedge_solver_solve(solver, &data, &other));
  assert_int_equal(kedge_solver_solve(solver, &data, &solution), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "is also the one to overwrite"));
  assert_null(solution);
  kedge_solution_destroy(other);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_in_any_order_have_the_values_that_they_have_alone),
      cmocka_unit_test(fields_are_found_at_the_points_of_a_solve),
      cmocka_unit_test(a_solution_as_data_is_the_function_that_it_is),
      cmocka_unit_test(picards_iteration_has_the_order_of_a_linear_problem),
      cmocka_unit_test(solutions_of_other_meshes_and_without_fields_are_refused),
      cmocka_unit_test(a_solution_that_the_device_reads_is_the_same_source),
      cmocka_unit_test(a_source_is_not_overwritten_by_its_own_solve),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

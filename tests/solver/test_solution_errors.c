// Norms of errors against an exact solution that is given after the solve.
#include "backend.h"
#include "compare.h"
#include "moved.h"
#include "support.h"

static kedge_errors errors_of(kedge_context *ctx, const kedge_solution *solution,
                              const kedge_problem *problem, int points)
{
  kedge_errors errors = KEDGE_ERRORS_INIT;
  must(ctx, kedge_solution_errors(solution, problem, points, &errors));
  return errors;
}

/// u = x, which every element has, against an exact solution that is 0: the errors are norms of x.
static void errors_are_the_norms_that_integrals_say(void **state)
{
  (void)state;
  static const struct {
    const char *diffusion;
    double sigma, energy;  ///< squares, on the unit square
  } cases[] = {{"9", 81.0, 9.0},
               {"2, 0.5, 1", 4.25, 2.0},
               {"1 + x", 7.0 / 3.0, 1.5},
               {"4e6*(1 + y), 1e6*x, 3e6", 16e12 * 7.0 / 3.0 + 1e12 / 3.0, 6e6}};
  static const char *const meshes[] = {"square 3", "quads 3", "mixed 4"};
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_problem *zero = problem_of(ctx, SETTINGS({"exact", "u", "0"}));
  for (int i = 0; i < 3 * 4; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, meshes[i % 3], &mesh));
    kedge_solution *solution = solve(ctx, mesh,
                                     SETTINGS({"space", "order", "2"}, {"exact", "u", "x"},
                                              {"equation", "diffusion", cases[i / 3].diffusion},
                                              {"boundary default", "type", "dirichlet"}));
    const kedge_errors e = errors_of(ctx, solution, zero, 0);
    assert_at_most(fabs(e.u * e.u - 1.0 / 3.0), 1e-9);
    assert_at_most(fabs(e.u_star * e.u_star - 1.0 / 3.0), 1e-9);
    assert_at_most(fabs(e.q * e.q - 1.0), 1e-9);
    assert_at_most(fabs(e.sigma * e.sigma / cases[i / 3].sigma - 1.0), 1e-9);
    assert_at_most(fabs(e.energy * e.energy / cases[i / 3].energy - 1.0), 1e-9);
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
  }
  kedge_problem_destroy(zero);
  kedge_context_destroy(ctx);
}

/// As in the plane, on tetrahedra: a tensor and a field, and functions of another dimension.
static void errors_on_tetrahedra_are_the_norms_that_integrals_say(void **state)
{
  (void)state;
  static const struct {
    const char *diffusion;
    double sigma, energy;  ///< squares, for u = x + z on the unit cube
  } cases[] = {{"9", 162.0, 18.0},
               {"2, 0.5, 0.25, 1, 0, 3", 5.0625 + 0.25 + 10.5625, 5.5},
               {"1 + x", 14.0 / 3.0, 3.0}};
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh, *plane;
  must(ctx, kedge_mesh_generate(ctx, "cube 3", &mesh));
  must(ctx, kedge_mesh_generate(ctx, "square 3", &plane));
  kedge_problem *zero = problem_of(ctx, SETTINGS({"exact", "u", "0"}));
  for (int i = 0; i < 3; ++i) {
    kedge_solution *solution = solve(
        ctx, mesh,
        SETTINGS({"space", "order", "2"}, {"exact", "u", "x + z"},
                 {"equation", "diffusion", cases[i].diffusion}, {"solver", "tolerance", "1e-12"},
                 {"boundary default", "type", "dirichlet"}));
    for (int points = 0; points < 9; points += 4) {
      const kedge_errors e = errors_of(ctx, solution, zero, points);
      assert_at_most(fabs(e.u * e.u - 7.0 / 6.0), 1e-9);
      assert_at_most(fabs(e.u_star * e.u_star - 7.0 / 6.0), 1e-9);
      assert_at_most(fabs(e.q * e.q - 2.0), 1e-9);
      assert_at_most(fabs(e.sigma * e.sigma / cases[i].sigma - 1.0), 1e-9);
      assert_at_most(fabs(e.energy * e.energy / cases[i].energy - 1.0), 1e-9);
    }
    kedge_solution_destroy(solution);
  }
  kedge_problem *z = problem_of(ctx, SETTINGS({"exact", "u", "z"}));
  kedge_errors errors = KEDGE_ERRORS_INIT;
  kedge_solution *flat = solve(ctx, plane,
                               SETTINGS({"space", "order", "1"}, {"exact", "u", "x"},
                                        {"boundary default", "type", "dirichlet"}));
  assert_int_equal(kedge_solution_errors(flat, z, 0, &errors), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "exact u names z"));
  kedge_solution_destroy(flat);
  kedge_problem_destroy(z);
  kedge_problem_destroy(zero);
  kedge_mesh_destroy(plane);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void zeros(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 0.0;
}

/// Points know their element: u* of a solution is a function, and diffusion by element is a field.
static void functions_know_elements(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = moved(ctx, 4, CHECKERED, 1, stay);
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  double diffusion[64];
  assert_true(info.elements <= 64);
  for (int e = 0; e < info.elements; ++e) diffusion[e] = 9.0;
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"exact", "u", "x"}, {"equation", "source", "0"},
                    {"boundary 1", "type", "dirichlet"}, {"boundary 2", "type", "dirichlet"},
                    {"boundary 3", "type", "dirichlet"}, {"boundary 4", "type", "dirichlet"}));
  kedge_problem *other = problem_of(ctx, SETTINGS({"space", "order", "2"}));
  kedge_solution *solution;
  must(ctx,
       kedge_problem_set_function(problem, "equation", "diffusion", kedge_by_element, diffusion));
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  must(ctx, kedge_problem_set_exact(other, kedge_by_solution, zeros, zeros, solution));
  const kedge_errors e = errors_of(ctx, solution, other, 0);
  assert_at_most(e.u_star, 1e-13);
  assert_at_most(e.u, 1e-9);
  assert_at_most(fabs(e.sigma - 9.0), 1e-8);
  assert_at_most(fabs(e.energy - 3.0), 1e-8);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_problem_destroy(other);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void assert_near(double a, double b)
{
  assert_at_most(fabs(a - b), 1e-4 * b);
}

static void errors_are_those_of_the_report(void **state)
{
  (void)state;
  static const enum cut cuts[] = {ALL, WHOLE, CHECKERED};
  for (int i = 0; i < 6; ++i) {
    kedge_context *ctx = open_backend(test_backend(), 1 + i % 3);
    kedge_mesh *mesh = moved(ctx, 6, cuts[i % 3], 1 + i / 3, i < 3 ? trapezoids : ring);
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"space", "order", "3"}, {"exact", "u", "sin(x)*cosh(y)"},
                      {"equation", "diffusion", i % 2 ? "1 + x*x, 0.2, 3" : "5"},
                      {"boundary 1", "type", "dirichlet"}, {"boundary 2", "type", "neumann"},
                      {"boundary 3", "type", "dirichlet"}, {"boundary 4", "type", "dirichlet"}));
    kedge_solution *solution;
    kedge_report report = KEDGE_REPORT_INIT;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    must(ctx, kedge_solution_report(solution, &report));
    const kedge_errors e = errors_of(ctx, solution, problem, 0);
    assert_near(e.u, report.u_l2);
    assert_near(e.u_star, report.u_star_l2);
    assert_near(e.q, report.q_l2);
    assert_near(e.sigma, report.sigma_l2);
    if (i % 2 == 0) assert_near(e.energy, sqrt(5.0) * e.q);
    assert_near(errors_of(ctx, solution, problem, 20).energy, e.energy);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
    kedge_context_destroy(ctx);
  }
}

static void errors_do_not_depend_on_threads(void **state)
{
  (void)state;
  kedge_errors first = KEDGE_ERRORS_INIT;
  for (int threads = 1; threads < 4; ++threads) {
    kedge_context *ctx = open_backend(test_backend(), threads);
    kedge_mesh *mesh = square_mesh(ctx, 20);
    kedge_problem *problem =
        problem_of(ctx, SETTINGS({"space", "order", "2"}, {"exact", "u", "exp(x*y)"},
                                 {"boundary default", "type", "dirichlet"}));
    kedge_solution *solution;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    const kedge_errors e = errors_of(ctx, solution, problem, 0);
    if (threads == 1) first = e;
    assert_memory_equal(&e, &first, sizeof e);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
    kedge_context_destroy(ctx);
  }
}

static void refuse(kedge_context *ctx, const kedge_solution *solution, const kedge_problem *problem,
                   kedge_errors errors, int points, const char *words)
{
  assert_int_equal(kedge_solution_errors(solution, problem, points, &errors), KEDGE_ERR_ARG);
  if (!strstr(kedge_context_error(ctx), words))
    fail_msg("'%s' is not in '%s'", words, kedge_context_error(ctx));
}

static void what_has_no_errors_is_refused(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 1);
  kedge_mesh *mesh = square_mesh(ctx, 2);
  kedge_problem *none = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}));
  kedge_problem *exact = problem_of(ctx, SETTINGS({"exact", "u", "x"}));
  kedge_solution *solution, *means;
  must(ctx, kedge_solve(ctx, mesh, none, &solution));
  must(ctx, kedge_problem_set(none, "output", "fields", "cells"));
  must(ctx, kedge_solve(ctx, mesh, none, &means));
  const kedge_errors errors = KEDGE_ERRORS_INIT;
  refuse(ctx, solution, none, errors, 0, "the problem has no exact solution");
  refuse(ctx, solution, exact, errors, 41, "points is 41; it is 1 to 40, or 0");
  refuse(ctx, solution, exact, (kedge_errors){0}, 0, "begin with KEDGE_ERRORS_INIT");
  refuse(ctx, means, exact, errors, 0, "so only the means over the elements were kept");
  assert_int_equal(kedge_solution_errors(solution, exact, 0, NULL), KEDGE_ERR_ARG);
  kedge_solution_destroy(solution);
  kedge_solution_destroy(means);
  kedge_problem_destroy(none);
  kedge_problem_destroy(exact);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_the_norms_that_integrals_say),
      cmocka_unit_test(errors_on_tetrahedra_are_the_norms_that_integrals_say),
      cmocka_unit_test(functions_know_elements),
      cmocka_unit_test(errors_are_those_of_the_report),
      cmocka_unit_test(errors_do_not_depend_on_threads),
      cmocka_unit_test(what_has_no_errors_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

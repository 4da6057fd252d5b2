// Data with t: a solve takes them at the time of its problem.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "kedge/integral.h"
#include "problem/problem.h"
#include "solver/solver.h"
#include "support.h"

/// u = (1 + t) (x + 2 y) where nothing moves: the source is the reaction's.
#define IN_TIME                                                                         \
  {"time", "end", "1"}, {"time", "steps", "4"}, {"equation", "reaction", "1+t"},        \
      {"equation", "source", "(1+t)^2*(x+2*y)"}, {"exact", "u", "(1+t)*(x+2*y)"},       \
      {"space", "order", "2"}, {"solver", "tolerance", "1e-13"},                        \
      {"boundary left", "type", "robin"}, {"boundary left", "coefficient", "2+cos(t)"}, \
      {"boundary right", "type", "neumann"}, {"boundary right", "value", "(1+t)*(1+t*y)"},

static const char *const meshes[] = {"square 3", "quads 3"};

/// What is asked of a solution at a time: its error, and an integral in which t is.
static void assert_solution(const kedge_mesh *mesh, const kedge_problem *problem,
                            const kedge_solution *s, double t)
{
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_errors errors = KEDGE_ERRORS_INIT;
  must(ctx, kedge_solution_report(s, &r));
  assert_true(r.converged);
  const char *const way = getenv("KEDGE_EVALUATE");
  if (test_backend() == KEDGE_BACKEND_CUDA && way && strcmp(way, "interpret") == 0)
    assert_string_equal(r.evaluation, "gpu, interpreted");
  assert_true(r.u_l2 <= 1e-10 && r.q_l2 <= 1e-9);
  must(ctx, kedge_solution_errors(s, problem, 0, &errors));
  assert_true(errors.u <= 1e-10 && errors.q <= 1e-9);
  kedge_integral *integral;
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  double value;
  options.of = "u*t + 7*t";
  must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
  must(ctx, kedge_integral_evaluate(integral, s, &value));
  kedge_integral_destroy(integral);
  assert_true(fabs(value - t * ((1 + t) * 1.5 + 7)) <= 1e-9);
}

static void a_solve_is_at_the_time_of_its_problem(void **state)
{
  (void)state;
  static const double times[] = {0.0, 0.375, 1.0};
  for (int m = 0; m < 2; ++m)
    for (int i = 0; i < 3; ++i) {
      // Diffusion of one number in each region, and one that varies.
      for (int varies = 0; varies < 2; ++varies) {
        kedge_mesh *mesh;
        kedge_solver *solver;
        kedge_solution *s = NULL;
        kedge_problem *problem =
            problem_of(ctx, SETTINGS(IN_TIME{"equation", "diffusion", varies ? "1+t*y" : "1"},
                                     {"boundary default", "type", "dirichlet"}));
        if (varies)  // div((1 + t y) grad u) = 2 t (1 + t)
          must(ctx,
               kedge_problem_set(problem, "equation", "source", "(1+t)^2*(x+2*y) - 2*t*(1+t)"));
        else
          must(ctx, kedge_problem_set(problem, "boundary right", "value", "1+t"));
        kg_problem_set_time(problem, times[i]);
        must(ctx, kedge_mesh_generate(ctx, meshes[m], &mesh));
        must(ctx, kg_solver_create(ctx, mesh, problem, 0, &solver));
        must(ctx, kedge_solver_solve(solver, NULL, &s));
        assert_solution(mesh, problem, s, times[i]);
        kedge_solution_destroy(s);
        kedge_solver_destroy(solver);
        kedge_mesh_destroy(mesh);
        kedge_problem_destroy(problem);
      }
    }
}

/// One solver is asked at one time after the other: what was compiled at the first stays.
static void assert_loads_move(const char *words)
{
  kedge_mesh *mesh;
  kedge_solver *solver;
  kedge_solution *s = NULL;
  kedge_problem *problem = problem_of(
      ctx,
      SETTINGS({"time", "end", "1"}, {"time", "steps", "4"}, {"equation", "reaction", "1"},
               {"space", "order", "2"}, {"equation", "source", "(1+t)*(x+2*y)"},
               {"exact", "u", "(1+t)*(x+2*y)"}, {"solver", "tolerance", "1e-13"},
               {"boundary left", "type", "neumann"}, {"boundary default", "type", "dirichlet"}));
  must(ctx, kedge_mesh_generate(ctx, words, &mesh));
  must(ctx, kg_solver_create(ctx, mesh, problem, 0, &solver));
  for (int i = 0; i <= 4; ++i) {
    const double t = 0.25 * i;
    kg_problem_set_time(problem, t);
    kg_resolved_set_time(&solver->elliptic->equation.resolved, t);
    must(ctx, kedge_solver_solve(solver, NULL, &s));
    assert_solution(mesh, problem, s, t);
  }
  kg_problem_set_time(problem, 0);  // a solution keeps its time
  assert_solution(mesh, problem, s, 1);
  kedge_solution_destroy(s);
  kedge_solver_destroy(solver);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

static void loads_move_while_a_solver_stays(void **state)
{
  (void)state;
  static const char *const ways[] = {"host", "interpret", "compile"};  // of a GPU
  for (int way = 0; way < 3; ++way)
    for (int m = 0; m < 2; ++m) {
      setenv("KEDGE_EVALUATE", ways[way], 1);
      assert_loads_move(meshes[m]);
      unsetenv("KEDGE_EVALUATE");
    }
}

static void a_steady_solve_refuses_a_problem_in_time(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  kedge_solution *s;
  kedge_problem *problem =
      problem_of(ctx, SETTINGS(IN_TIME{"boundary default", "type", "dirichlet"}));
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  const char *const sentence =
      "the problem has a [time], and this solves steady ones: take [time] out, or march with it";
  kedge_solver *solver;
  assert_int_equal(kedge_solver_create(ctx, mesh, problem, &solver), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx), sentence);
  assert_null(solver);
  assert_int_equal(kedge_solve(ctx, mesh, problem, &s), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx), sentence);
  assert_null(s);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void data_of_a_solve_name_t_only_with_time(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  kedge_solver *solver;
  kedge_solution *s = NULL;
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}));
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  must(ctx, kg_solver_create(ctx, mesh, problem, 0, &solver));
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "x*t";
  assert_int_equal(kedge_solver_solve(solver, &data, &s), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx),
                      "kedge_solver_solve: the source of the equation names t, the time, and the "
                      "problem has no [time]");
  assert_null(s);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_solve_is_at_the_time_of_its_problem),
      cmocka_unit_test(loads_move_while_a_solver_stays),
      cmocka_unit_test(a_steady_solve_refuses_a_problem_in_time),
      cmocka_unit_test(data_of_a_solve_name_t_only_with_time),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

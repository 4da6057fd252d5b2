// Boundary data: how often and with which threads functions are asked.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backend.h"
#include "compare.h"
#include "support.h"

static _Atomic size_t calls, asked;

static void count_and_be_linear(void *user, const kedge_points *points, double *value)
{
  (void)user;
  atomic_fetch_add(&calls, 1);
  atomic_fetch_add(&asked, points->n);
  for (size_t i = 0; i < points->n; ++i) value[i] = points->x[i] - points->y[i];
}

static kedge_problem *problem_with(kedge_context *ctx, kedge_function *dirichlet)
{
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "2"}, {"boundary right", "type", "neumann"},
                               {"boundary right", "value", "1"}));
  must(ctx,
       kedge_problem_set_boundary(problem, "default", KEDGE_BOUNDARY_DIRICHLET, dirichlet, NULL));
  return problem;
}

static void a_boundary_function_is_asked_once_at_every_point(void **state)
{
  (void)state;
  enum { N = 70, EDGE_POINTS = 7 };  // order + 5
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 70", &mesh));
  kedge_problem *problem = problem_with(ctx, count_and_be_linear);
  calls = asked = 0;
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  assert_int_equal(asked, 3 * N * EDGE_POINTS);
  assert_true(calls < N);  // blocks, not edges
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void be_bad_to_the_right(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->x[i] > 0.1 ? NAN : 1.0;
}

static void be_the_flux_of_x_minus_y(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->normal_x[i] - points->normal_y[i];
}

static void be_x_minus_y(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->x[i] - points->y[i];
}

static void a_neumann_function_knows_the_outward_normal(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "ring 2 12", &mesh));
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "1"}, {"equation", "reaction", "1"},
                               {"equation", "source", "x - y"}, {"exact", "u", "x - y"},
                               {"solver", "tolerance", "1e-13"}));
  must(ctx, kedge_problem_set_boundary(problem, "inner", KEDGE_BOUNDARY_NEUMANN,
                                       be_the_flux_of_x_minus_y, NULL));
  must(ctx,
       kedge_problem_set_boundary(problem, "outer", KEDGE_BOUNDARY_DIRICHLET, be_x_minus_y, NULL));
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  assert_true(report.u_l2 <= 1e-11);
  assert_true(report.q_l2 <= 1e-11);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void the_same_bad_value_is_named_with_any_number_of_threads(void **state)
{
  (void)state;
  char first[1024] = "";
  for (int threads = 1; threads <= 4; ++threads) {
    kedge_context *ctx = open_backend(test_backend(), threads);
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, "square 200", &mesh));
    kedge_problem *problem = problem_with(ctx, be_bad_to_the_right);
    const char *sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
    assert_non_null(strstr(sentence, " is nan at x = 0.1"));
    if (threads == 1) strncpy(first, sentence, sizeof first - 1);
    assert_string_equal(sentence, first);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
    kedge_context_destroy(ctx);
  }
}

static void data_and_solution_have_the_same_bits_with_any_number_of_threads(void **state)
{
  (void)state;
  fields first = {0};
  for (int threads = 1; threads <= 4; ++threads) {
    kedge_context *ctx = open_backend(test_backend(), threads);
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, "ring 1 600", &mesh));
    kedge_solution *solution = solve(
        ctx, mesh,
        SETTINGS({"space", "order", "3"}, {"exact", "u", "exp(x)*sin(y)"},
                 {"boundary inner", "type", "neumann"}, {"boundary default", "type", "dirichlet"}));
    fields f = fields_of(ctx, solution);
    if (threads == 1) {
      first = f;
    } else {
      assert_same_bits(&f, &first);
      fields_free(&f);
    }
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
    kedge_context_destroy(ctx);
  }
  fields_free(&first);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_boundary_function_is_asked_once_at_every_point),
      cmocka_unit_test(a_neumann_function_knows_the_outward_normal),
      cmocka_unit_test(the_same_bad_value_is_named_with_any_number_of_threads),
      cmocka_unit_test(data_and_solution_have_the_same_bits_with_any_number_of_threads),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// What a solver refuses, and the set-up after a change of its problem.
#include "backend.h"
#include "device/context.h"
#include "repeated.h"

static void refused_data_leave_a_solver_that_goes_on(void **state)
{
  (void)state;
  const sample *s = &samples[2];
  bench b = bench_of(s);
  kedge_boundary_value value[2] = {{.group = "tpo", .text = "1"}, {.group = "top", .text = "2"}};
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "1 +";
  refuse(&b, &data, KEDGE_ERR_INPUT, "of source");
  data.source = "1/0";
  refuse(&b, &data, KEDGE_ERR_INPUT, "source has no finite value");
  data.source = "log(x - 0.5)";
  refuse(&b, &data, KEDGE_ERR_INPUT, "source is nan at x =");
  data.source = NULL;
  data.n_values = 1;
  refuse(&b, &data, KEDGE_ERR_ARG, "1 boundary values without an array");
  data.values = value;
  refuse(&b, &data, KEDGE_ERR_INPUT, "no boundary group 'tpo'; did you mean 'top'?");
  value[0] = (kedge_boundary_value){.group = "top"};
  refuse(&b, &data, KEDGE_ERR_ARG, "the value of top needs a text or a function, one of them");
  value[0].text = "log(x - 0.5)";
  refuse(&b, &data, KEDGE_ERR_INPUT, "on boundary top is nan at x =");
  value[0].text = "1";
  data.n_values = 2;
  refuse(&b, &data, KEDGE_ERR_INPUT, "'top' is given two values");
  refuse(&b, &(kedge_data){0}, KEDGE_ERR_ARG, "begin with KEDGE_DATA_INIT");
  assert_int_equal(kedge_solver_solve(b.solver, NULL, NULL), KEDGE_ERR_ARG);
  kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, s, 1), *again = NULL;
  solve_again(b.ctx, b.solver, 1, &again);
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  bench_free(&b);
}

static void a_solution_of_another_solver_is_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_problem *problem = problem_of(b.ctx, samples[2].settings);
  kedge_solution *other = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, problem, &other));
  kedge_data data = KEDGE_DATA_INIT;
  data.start = other;
  refuse(&b, &data, KEDGE_ERR_ARG, "to start from is of another mesh, order or kind");
  assert_int_equal(kedge_solver_solve(b.solver, NULL, &other), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(b.ctx), "was not made by this solver"));
  assert_null(other);
  kedge_problem_destroy(problem);
  bench_free(&b);
}

/// What the transfer of the last set-up has moved, by its costs.
static double transferred(const bench *b)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(b->ctx, kedge_solver_report(b->solver, &report));
  int i = 0;
  while (strcmp(report.stages[i].name, "transfer") != 0) ++i;
  return report.stages[i].bytes;
}

static void an_update_is_a_new_solver_in_the_same_memory(void **state)
{
  (void)state;
  static const char *const diffusions[] = {"0.25", "3"};
  for (int i = 0; i < SAMPLES; i += 2) {
    bench b = bench_of(&samples[i]);
    const int64_t set_up = b.ctx->bytes_in_use;
    kedge_solution *again = NULL, *fresh = NULL;
    assert_true(transferred(&b) > 0.0);
    for (int k = 0; k < 2; ++k) {
      must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", diffusions[k]));
      must(b.ctx, kedge_problem_set(b.problem, "boundary top", "value", tops[k]));
      refuse(&b, NULL, KEDGE_ERR_ARG, "call kedge_solver_update()");
      must(b.ctx, kedge_solver_update(b.solver));
      if (k == 0) continue;
      assert_true(transferred(&b) == 0.0);  // the mesh stays where it is
      must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
      must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
      assert_same_solve(b.ctx, again, fresh);
      assert_true(b.ctx->bytes_in_use <= set_up + solution_bytes(&b));
    }
    kedge_solution_destroy(again);
    kedge_solution_destroy(fresh);
    bench_free(&b);
  }
}

static void a_refused_update_waits_for_one_that_succeeds(void **state)
{
  (void)state;
  bench b = bench_of(&samples[2]);
  kedge_solution *again = NULL, *fresh = NULL;
  must(b.ctx, kedge_problem_set(b.problem, "boundary botom", "type", "neumann"));
  assert_int_equal(kedge_solver_update(b.solver), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(b.ctx), "did you mean 'bottom'?"));
  refuse(&b, NULL, KEDGE_ERR_ARG, "call kedge_solver_update()");
  kedge_problem *problem = problem_of(b.ctx, samples[2].settings);
  must(b.ctx, kedge_problem_set(problem, "space", "order", "5"));  // takes more memory
  kedge_problem_destroy(b.problem);
  kedge_solver_destroy(b.solver);
  b.problem = problem;
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  must(b.ctx, kedge_problem_set(problem, "space", "order", "7"));
  must(b.ctx, kedge_problem_set(problem, "boundary left", "type", "neumann"));
  must(b.ctx, kedge_problem_set(problem, "boundary left", "value", "y"));
  must(b.ctx, kedge_solver_update(b.solver));
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
  must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(again);
  kedge_solution_destroy(fresh);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refused_data_leave_a_solver_that_goes_on),
      cmocka_unit_test(a_solution_of_another_solver_is_refused),
      cmocka_unit_test(an_update_is_a_new_solver_in_the_same_memory),
      cmocka_unit_test(a_refused_update_waits_for_one_that_succeeds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

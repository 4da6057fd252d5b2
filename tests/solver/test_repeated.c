// One set-up, many solves: results of kedge_solve(), to the bit.
#include "backend.h"
#include "device/context.h"
#include "repeated.h"

static void solves_of_one_solver_are_those_of_fresh_ones(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh[DATA], *again = NULL;
    for (int k = 0; k < DATA; ++k) fresh[k] = solve_fresh(b.ctx, b.mesh, &samples[i], k);
    for (int k = 0; k < 2 * DATA; ++k) {
      solve_again(b.ctx, b.solver, k % DATA, &again);
      assert_same_solve(b.ctx, again, fresh[k % DATA]);
    }
    for (int k = 0; k < DATA; ++k) kedge_solution_destroy(fresh[k]);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static void batches_of_one_shape_are_solved_again_too(void **state)
{
  (void)state;
  static const int32_t cuts[] = {70, 100};
  bench b = {.ctx = open_backend(test_backend(), 2)};
  const sample *s = &samples[5];
  b.ctx->n_cuts = 2;
  b.ctx->cuts = cuts;
  must(b.ctx, kedge_mesh_generate(b.ctx, s->generate, &b.mesh));
  b.problem = problem_of(b.ctx, s->settings);
  bench_set_up(&b);
  kedge_solution *again = NULL;
  for (int k = 0; k < DATA; ++k) {
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, s, k);
    solve_again(b.ctx, b.solver, k, &again);
    assert_same_solve(b.ctx, again, fresh);
    kedge_solution_destroy(fresh);
  }
  kedge_solution_destroy(again);
  bench_free(&b);
}

static void times(void *user, const kedge_points *points, double *value)
{
  const double *factor = user;
  for (size_t i = 0; i < points->n; ++i) value[i] = *factor * points->x[i];
}

static void data_may_be_functions_of_the_caller(void **state)
{
  (void)state;
  const sample *s = &samples[2];
  bench b = bench_of(s);
  double two = 2.0, three = 3.0;
  kedge_problem *problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_problem_set_source(problem, times, &two));
  must(b.ctx, kedge_problem_set_boundary(problem, "top", KEDGE_BOUNDARY_NEUMANN, times, &three));
  kedge_solution *fresh = NULL, *again = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, problem, &fresh));
  const kedge_boundary_value top = {.group = "top", .function = times, .user = &three};
  kedge_data data = KEDGE_DATA_INIT;
  data.source_function = times;
  data.source_user = &two;
  data.n_values = 1;
  data.values = &top;
  must(b.ctx, kedge_solver_solve(b.solver, &data, &again));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  kedge_problem_destroy(problem);
  bench_free(&b);
}

/// A solution outlives its solver, and without data the problem's are taken.
static void the_data_of_the_problem_are_taken_where_none_are_given(void **state)
{
  (void)state;
  const sample *s = &samples[10];
  bench b = bench_of(s);
  kedge_solution *other = NULL, *again = NULL, *fresh = NULL;
  solve_again(b.ctx, b.solver, 1, &other);
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
  kedge_solver_destroy(b.solver);
  b.solver = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(other);
  kedge_solution_destroy(again);
  kedge_solution_destroy(fresh);
  bench_free(&b);
}

static void a_cancelled_solve_leaves_a_solver_that_goes_on(void **state)
{
  (void)state;
  for (int i = 2; i < SAMPLES; i += 5) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], 1), *again = NULL;
    patience p = {.most = 1};
    kedge_context_set_progress(b.ctx, be_patient, &p);
    const kedge_boundary_value top = {.group = "top", .text = tops[1]};
    kedge_data data = KEDGE_DATA_INIT;
    data.source = sources[1];
    data.n_values = 1;
    data.values = &top;
    int cancelled = 0;
    for (;; ++p.most, ++cancelled, p.calls = 0) {
      const kedge_status status = kedge_solver_solve(b.solver, &data, &again);
      if (status == KEDGE_OK) break;
      assert_int_equal(status, KEDGE_ERR_CANCELLED);
      assert_null(again);
    }
    assert_true(cancelled > 6);
    assert_same_solve(b.ctx, again, fresh);
    kedge_context_set_progress(b.ctx, NULL, NULL);
    kedge_solution_destroy(fresh);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

/// Jacobi's are solved one by one; others need not have these bits (test_many.c).
static void many_right_hand_sides_are_solved_as_one_by_one(void **state)
{
  (void)state;
  enum { MANY = 4 };
  const sample *s = &samples[1];
  bench b = bench_of(s);
  kedge_boundary_value top[MANY];
  kedge_data data[MANY];
  const kedge_data *each[MANY] = {NULL};
  kedge_solution *solutions[MANY] = {NULL};
  for (int k = 0; k < DATA; ++k) {
    top[k] = (kedge_boundary_value){.group = "top", .text = tops[k]};
    data[k] = (kedge_data)KEDGE_DATA_INIT;
    data[k].source = sources[k];
    data[k].n_values = 1;
    data[k].values = &top[k];
    each[k] = &data[k];
  }
  for (int turn = 0; turn < 2; ++turn)
    must(b.ctx, kedge_solver_solve_many(b.solver, MANY, each, solutions));
  for (int k = 0; k < MANY; ++k) {
    kedge_solution *fresh = NULL;
    if (each[k])
      fresh = solve_fresh(b.ctx, b.mesh, s, k);
    else
      must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
    assert_same_solve(b.ctx, solutions[k], fresh);
    kedge_solution_destroy(fresh);
  }
  kedge_solution *const own = solutions[1];
  solutions[1] = solutions[0];
  assert_int_equal(kedge_solver_solve_many(b.solver, MANY, each, solutions), KEDGE_ERR_ARG);
  assert_non_null(solutions[0]);
  solutions[1] = own;
  data[1].source = "1 +";
  assert_int_equal(kedge_solver_solve_many(b.solver, MANY, each, solutions), KEDGE_ERR_INPUT);
  assert_ptr_equal(strstr(kedge_context_error(b.ctx), "data[1]: "), kedge_context_error(b.ctx));
  for (int k = 0; k < MANY; ++k) assert_null(solutions[k]);
  assert_int_equal(kedge_solver_solve_many(b.solver, 0, each, solutions), KEDGE_ERR_ARG);
  bench_free(&b);
}

static kedge_report report_from(kedge_context *ctx, kedge_solver *solver,
                                const kedge_solution *start, kedge_solution **solution)
{
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "1.001";
  data.start = start;
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solver_solve(solver, &data, solution));
  kedge_solution_report(*solution, &report);
  assert_true(report.converged);
  return report;
}

static void a_solve_that_starts_near_takes_fewer_iterations_to_the_same_solution(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES - 1; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_solution *cold = NULL, *near = NULL;
    kedge_data data = KEDGE_DATA_INIT;
    data.source = "1";
    must(b.ctx, kedge_solver_solve(b.solver, &data, &near));
    const kedge_report of_cold = report_from(b.ctx, b.solver, NULL, &cold);
    const kedge_report of_near = report_from(b.ctx, b.solver, near, &near);
    assert_true(of_cold.start_residual == 1.0);
    assert_true(of_near.start_residual < 0.01);
    assert_true(of_near.relative_residual <= of_near.tolerance);
    assert_true(of_near.iterations < of_cold.iterations);
    fields f = fields_of(b.ctx, cold), g = fields_of(b.ctx, near);
    assert_true(fields_distance(&f, &g) < 1e-7);
    fields_free(&f);
    fields_free(&g);
    const kedge_report of_itself = report_from(b.ctx, b.solver, near, &near);
    assert_true(of_itself.iterations == 0 && of_itself.stop == KEDGE_STOP_TOLERANCE);
    kedge_solution_destroy(cold);
    kedge_solution_destroy(near);
    bench_free(&b);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solves_of_one_solver_are_those_of_fresh_ones),
      cmocka_unit_test(batches_of_one_shape_are_solved_again_too),
      cmocka_unit_test(data_may_be_functions_of_the_caller),
      cmocka_unit_test(the_data_of_the_problem_are_taken_where_none_are_given),
      cmocka_unit_test(a_cancelled_solve_leaves_a_solver_that_goes_on),
      cmocka_unit_test(many_right_hand_sides_are_solved_as_one_by_one),
      cmocka_unit_test(a_solve_that_starts_near_takes_fewer_iterations_to_the_same_solution),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The right-hand side of a trace system, and what is recovered from a trace found elsewhere.
#include "backend.h"
#include "compare.h"
#include "trace_system.h"

static void the_right_hand_side_takes_the_data_of_a_solve(void **state)
{
  (void)state;
  bench b = bench_of(&samples[1]);
  const kedge_data data = other_data();
  kedge_solution *solution = NULL;
  double *rhs = vector(b.n), *again = vector(b.n);
  must(b.ctx, kedge_solver_rhs(b.solver, &data, rhs));
  must(b.ctx, kedge_solver_solve(b.solver, &data, &solution));
  double *u = unknowns_of(&b, solution), *au = product(&b, u);
  assert_close(b.n, au, rhs, 1e-10);
  must(b.ctx, kedge_solver_rhs(b.solver, NULL, again));
  assert_true(distance(b.n, again, rhs) > 0.1);
  must(b.ctx, kedge_solver_rhs(b.solver, &data, again));
  assert_memory_equal(rhs, again, b.n * sizeof *rhs);
  kedge_solution_destroy(solution);
  free(rhs);
  free(again);
  free(u);
  free(au);
  bench_free(&b);
}

static void a_solution_of_another_mesh_is_no_source(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]), other = bench_with(b.ctx, &samples[9]);
  kedge_solution *solution = NULL;
  double *rhs = vector(b.n + other.n);
  must(b.ctx, kedge_solver_solve(other.solver, NULL, &solution));
  kedge_data data = KEDGE_DATA_INIT;
  data.source_function = kedge_by_solution;
  data.source_user = solution;
  assert_int_equal(kedge_solver_rhs(b.solver, &data, rhs), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(b.ctx), "is of another mesh"));
  must(b.ctx, kedge_solver_rhs(other.solver, &data, rhs));
  assert_true(isfinite(largest(other.n, rhs)));
  free(rhs);
  kedge_solution_destroy(solution);
  kedge_solver_destroy(other.solver);
  kedge_problem_destroy(other.problem);
  kedge_mesh_destroy(other.mesh);
  bench_free(&b);
}

static void refused_data_name_the_function_that_was_called(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  const kedge_boundary_value nameless = {.text = "0"}, empty = {.group = "7"};
  kedge_data none = KEDGE_DATA_INIT, nobody = KEDGE_DATA_INIT, nothing = KEDGE_DATA_INIT;
  none.n_values = nobody.n_values = nothing.n_values = 1;
  nobody.values = &nameless;
  nothing.values = &empty;
  const kedge_data *const refused[] = {&none, &nobody, &nothing};
  kedge_solution *solution = NULL;
  double *x = vector(b.n), *rhs = vector(b.n);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(kedge_solver_solve(b.solver, refused[i], &solution), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_solve: "));
    assert_int_equal(kedge_solver_rhs(b.solver, refused[i], rhs), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_rhs: "));
    assert_int_equal(kedge_solver_recover(b.solver, refused[i], x, &solution), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_recover: "));
  }
  free(x);
  free(rhs);
  bench_free(&b);
}

static void the_trace_of_a_solve_recovers_its_solution(void **state)
{
  (void)state;
  for (int s = 0; s <= SAMPLES; ++s) {
    bench b = bench_of(s < SAMPLES ? &samples[s] : &compact);
    kedge_solution *solved = NULL, *recovered = NULL;
    kedge_data data = other_data();
    data.n_values = 0;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &solved));
    double *u = unknowns_of(&b, solved);
    for (int turn = 0; turn < 2; ++turn)
      must(b.ctx, kedge_solver_recover(b.solver, &data, u, &recovered));
    fields f = fields_of(b.ctx, solved), g = fields_of(b.ctx, recovered);
    assert_same_bits(&f, &g);
    kedge_report of_solve = KEDGE_REPORT_INIT, report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solution_report(solved, &of_solve));
    must(b.ctx, kedge_solution_report(recovered, &report));
    assert_int_equal(report.iterations, 0);
    assert_true(report.relative_residual == of_solve.relative_residual);
    assert_string_equal(report.solver_note, "");
    fields_free(&f);
    fields_free(&g);
    free(u);
    kedge_solution_destroy(solved);
    kedge_solution_destroy(recovered);
    bench_free(&b);
  }
}

static void a_trace_that_is_no_solution_is_recovered_and_says_so(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_solution *solution = NULL;
  kedge_report report = KEDGE_REPORT_INIT;
  const kedge_boundary_value zeros[] = {{.group = "7", .text = "0"},
                                        {.group = "default", .text = "0"}};
  kedge_data none = KEDGE_DATA_INIT;
  none.source = "0";
  none.n_values = 2;
  none.values = zeros;
  double *x = noise(b.n, 5);
  must(b.ctx, kedge_solver_recover(b.solver, NULL, x, &solution));
  must(b.ctx, kedge_solution_report(solution, &report));
  assert_true(report.relative_residual > 1e-3 && !report.converged);
  assert_int_equal(report.stop, KEDGE_STOP_LIMIT);
  must(b.ctx, kedge_solver_recover(b.solver, &none, x, &solution));
  must(b.ctx, kedge_solution_report(solution, &report));
  assert_true(isinf(report.relative_residual));
  double *u = unknowns_of(&b, solution);
  assert_memory_equal(x, u, b.n * sizeof *x);
  x[3] = NAN;
  assert_int_equal(kedge_solver_recover(b.solver, NULL, x, &solution), KEDGE_ERR_INPUT);
  assert_null(solution);
  assert_non_null(strstr(kedge_context_error(b.ctx), "unknown 3 of the trace is nan"));
  free(x);
  free(u);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_right_hand_side_takes_the_data_of_a_solve),
      cmocka_unit_test(a_solution_of_another_mesh_is_no_source),
      cmocka_unit_test(refused_data_name_the_function_that_was_called),
      cmocka_unit_test(the_trace_of_a_solve_recovers_its_solution),
      cmocka_unit_test(a_trace_that_is_no_solution_is_recovered_and_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

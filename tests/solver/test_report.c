// What is told of a solve: the report, the prediction of memory, progress.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/stages.h"
#include "grid.h"
#include "support.h"

static void the_report_counts_what_was_solved(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 4", &mesh));
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "3"}, {"equation", "source", "1"},
                     {"boundary left", "type", "dirichlet"}, {"boundary left", "value", "x"},
                     {"boundary default", "type", "neumann"}, {"boundary default", "value", "0"},
                     {"solver", "tolerance", "1e-9"}));
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_int_equal(r.elements, 32);
  assert_int_equal(r.edges, 3 * 16 + 2 * 4);
  assert_int_equal(r.vertices, 25);
  assert_int_equal(r.boundary_edges, 16);
  assert_int_equal(r.order, 3);
  assert_int_equal(r.trace_unknowns, (56 - 4) * 4);
  assert_int_equal(r.element_unknowns, 32 * 10);
  assert_string_equal(r.backend, kedge_backend_name(test_backend()));
  assert_string_equal(r.device, kedge_context_device(ctx));
  assert_string_equal(r.operator_name, "matrix-free");
  assert_string_equal(r.preconditioner, "jacobi");
  assert_true(r.tolerance == 1e-9 && r.relative_residual <= 1e-9 && r.converged);
  assert_true(r.iterations > 0);
  assert_false(r.has_exact);
  assert_true(isnan(r.u_l2) && isnan(r.u_linf) && isnan(r.q_l2) && isnan(r.u_star_l2));
  // Reduced K^e; the one-kernel solver of a GPU takes packed ones.
  const int rows = test_backend() == KEDGE_BACKEND_CUDA ? 78 : 48;
  assert_int_equal(r.local_matrices_bytes, rows * 32 * 8);
  assert_true(r.operator_bytes > rows * 32 * 8);  // and two vectors
  assert_true(r.stages[KG_STAGE_TRACE_SOLVE].seconds > 0.0);
  assert_true(r.stages[KG_STAGE_TRACE_SOLVE].flops > 2.0 * 9 * 9 * 32 * (double)r.iterations);
  assert_true(r.stages[KG_STAGE_OUTPUT].seconds > 0.0);  // results to the host
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void an_iteration_that_is_cut_short_is_reported_and_its_solution_handed_out(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 100);
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"exact", "u", "sin(x)"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "max_iterations", "3"}));
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_false(r.converged);
  assert_int_equal(r.iterations, 3);
  assert_true(r.relative_residual > r.tolerance && isfinite(r.u_l2));
  char note[128];
  snprintf(note, sizeof note,
           "stopped after max_iterations = 3 with a relative residual of %.2e; raise "
           "max_iterations or tolerance",
           r.relative_residual);
  assert_string_equal(r.solver_note, note);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void predictions_are_what_is_allocated(void **state)
{
  (void)state;
  const char *const orders[] = {"1", "4", "9"};
  const char *const generate[] = {"square 3", "ring 5 40"};
  for (int i = 0; i < 2 * 3 * KEDGE_OPERATOR_COUNT * 2; ++i) {
    const bool exact = i % 2;
    const kedge_operator op = (kedge_operator)(i / 2 % KEDGE_OPERATOR_COUNT);
    const int rest = i / 2 / KEDGE_OPERATOR_COUNT;
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, generate[rest / 3], &mesh));
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"space", "order", orders[rest % 3]},
                 {"solver", "operator", kedge_operator_name(op)}, {"solver", "tolerance", "1e-3"},
                 {"solver", "preconditioner", "jacobi"}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}));
    if (exact) must(ctx, kedge_problem_set(problem, "exact", "u", "x*y"));
    if (i % 3 == 0) must(ctx, kedge_problem_set(problem, "output", "fields", "cells"));
    kedge_plan plan = KEDGE_PLAN_INIT;
    kedge_solution *solution;
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    kedge_solution_report(solution, &r);
    assert_int_equal(r.predicted_device_bytes, plan.peak_bytes[op]);
    assert_at_most(fabs((double)(r.peak_device_bytes - r.predicted_device_bytes)),
                   0.05 * (double)r.peak_device_bytes);
    for (int stage = 0; stage < KG_STAGE_COUNT; ++stage)
      assert_true(plan.stage_bytes[op][stage] <= plan.peak_bytes[op]);
    assert_true(plan.free_bytes > 0);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

/// What the progress function has seen.
typedef struct witness {
  int stage;  ///< the last one
  bool finished[KG_STAGE_COUNT];
  int64_t iteration;
  double residual;
} witness;

static int stage_of(const char *name)
{
  int stage = 0;
  while (stage < KG_STAGE_COUNT && strcmp(kg_stage_name((kg_stage)stage), name)) ++stage;
  return stage;
}

static bool watch(void *user, const kedge_progress *progress)
{
  witness *w = user;
  const int stage = stage_of(progress->stage);
  assert_true(stage < KG_STAGE_COUNT && stage >= w->stage);
  assert_false(w->finished[stage]);
  assert_true(progress->seconds >= 0.0);
  w->stage = stage;
  w->finished[stage] = progress->finished;
  if (stage != KG_STAGE_TRACE_SOLVE || progress->finished) {
    assert_int_equal(progress->iteration, 0);
    return true;
  }
  assert_true(progress->iteration >= w->iteration);
  w->iteration = progress->iteration;
  if (progress->iteration > 0) {
    assert_true(progress->tolerance == 1e-8);
    w->residual = progress->relative_residual;
  }
  return true;
}

static void check_progress(const char *operator_name)
{
  witness w = {0};
  kedge_mesh *mesh = test_irregular_mesh(ctx, 200);
  kedge_context_set_progress(ctx, watch, &w);
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"exact", "u", "sin(x)"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "operator", operator_name}, {"solver", "tolerance", "1e-8"},
                     {"solver", "preconditioner", "jacobi"}));  // which assembles nothing
  kedge_context_set_progress(ctx, NULL, NULL);
  const bool assembled = strcmp(operator_name, "matrix-free") != 0;
  for (int stage = 0; stage < KG_STAGE_OUTPUT; ++stage)
    assert_true(w.finished[stage] == (stage != KG_STAGE_ASSEMBLY || assembled));
  assert_false(w.finished[KG_STAGE_OUTPUT]);
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_int_equal(w.iteration, r.iterations);
  assert_true(w.residual <= 1e-8);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void progress_tells_of_the_stages_in_order_and_of_the_falling_residual(void **state)
{
  (void)state;
  check_progress("matrix-free");
  check_progress("matrix-free-plain");
  check_progress("ell");
}

static void a_report_and_a_plan_fill_what_the_caller_knows(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 50);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"exact", "u", "sin(x)"}, {"boundary default", "type", "dirichlet"}));
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_report whole = KEDGE_REPORT_INIT,
               part = {.size = offsetof(kedge_report, order), .order = -7};
  must(ctx, kedge_solution_report(solution, &whole));
  must(ctx, kedge_solution_report(solution, &part));
  assert_int_equal(part.elements, whole.elements);
  assert_int_equal(part.order, -7);  // an older caller's struct ends here
  struct {
    kedge_report report;
    int64_t of_a_later_version;
  } later = {.report = {.size = sizeof later}, .of_a_later_version = 5};
  must(ctx, kedge_solution_report(solution, &later.report));
  assert_int_equal(later.report.elements, whole.elements);
  assert_int_equal(later.of_a_later_version, 0);
  assert_int_equal(kedge_solution_report(solution, &(kedge_report){0}), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "KEDGE_REPORT_INIT"));
  assert_int_equal(kedge_solution_report(solution, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_plan_make(ctx, mesh, problem, &(kedge_plan){0}), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "KEDGE_PLAN_INIT"));
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// A solve that is cancelled at each moment at which the progress function is asked.
static void a_solve_that_is_cancelled_ends_with_its_own_status_and_leaves_no_memory(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 200);
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"exact", "u", "sin(x)"}, {"boundary default", "type", "dirichlet"},
                               {"solver", "preconditioner", "multigrid"}));
  const int64_t before = ctx->bytes_in_use;
  patience p = {.most = 1};
  kedge_context_set_progress(ctx, be_patient, &p);
  kedge_solution *solution = NULL;
  int cancelled = 0;
  for (;; ++p.most, ++cancelled, p.calls = 0) {
    const kedge_status status = kedge_solve(ctx, mesh, problem, &solution);
    if (status == KEDGE_OK) break;
    assert_int_equal(status, KEDGE_ERR_CANCELLED);
    assert_non_null(strstr(kedge_context_error(ctx), "cancelled by the progress function"));
    assert_null(solution);
    assert_int_equal(p.calls, p.most);  // it is not asked again
    assert_int_equal(ctx->bytes_in_use, before);
  }
  assert_true(cancelled > 10);  // in every stage

  p = (patience){.most = 1};
  remove("cancelled.vtkhdf");
  assert_int_equal(kedge_solution_write(solution, "cancelled.vtkhdf"), KEDGE_ERR_CANCELLED);
  assert_null(fopen("cancelled.vtkhdf", "rb"));
  kedge_context_set_progress(ctx, NULL, NULL);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_report_counts_what_was_solved),
      cmocka_unit_test(an_iteration_that_is_cut_short_is_reported_and_its_solution_handed_out),
      cmocka_unit_test(predictions_are_what_is_allocated),
      cmocka_unit_test(progress_tells_of_the_stages_in_order_and_of_the_falling_residual),
      cmocka_unit_test(a_report_and_a_plan_fill_what_the_caller_knows),
      cmocka_unit_test(a_solve_that_is_cancelled_ends_with_its_own_status_and_leaves_no_memory),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

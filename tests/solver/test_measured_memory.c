// Predictions of memory against what heap and GPU say is gone.
#include <malloc.h>

#include "compare.h"
#include "context.h"
#include "core/memory.h"
#include "elliptic/stages.h"
#include "memory_case.h"
#include "support.h"

static int64_t heap(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

static int64_t heap_before, heap_in_solve, heap_in_postprocess;

static bool look_in_solve(void *user, const kedge_progress *progress)
{
  (void)user;
  if (progress->iteration > 0) heap_in_solve = heap() - heap_before;
  return true;
}

/// The last calls are those of post-processing.
static void look_and_be_one(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 1.0;
  heap_in_postprocess = heap() - heap_before;
}

static void zero(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 0.0;
}

static void assert_predicted(int64_t measured, kg_stage stage, const kg_shape *shape,
                             int64_t layout)
{
  const double predicted =
      (double)(kg_peak_bytes(shape) + kg_host_stage_bytes(stage, shape) + layout);
  assert_at_most(fabs(predicted / (double)measured - 1.0), 0.05);
}

static void host_memory_is_what_was_predicted(void **state)
{
  (void)state;
  // Sanitizers have a heap of their own.
  if (test_backend() == KEDGE_BACKEND_CUDA || heap() == 0) skip();
  heap_before = heap();
  kedge_mesh *mesh = square_mesh(ctx, 60);
  const int64_t mesh_bytes = heap() - heap_before;
  // The context keeps the scratch of its first solve, which is judged by itself below.
  kedge_problem *first = dirichlet(ctx, "4", kedge_operator_name(KEDGE_OPERATOR_MATRIX_FREE));
  kedge_solution *kept;
  must(ctx, kedge_solve(ctx, mesh, first, &kept));
  kedge_solution_destroy(kept);
  kedge_problem_destroy(first);
  for (int i = 0; i < 2 * KEDGE_OPERATOR_COUNT; ++i) {
    kedge_problem *problem = dirichlet(ctx, "4", kedge_operator_name((kedge_operator)(i / 2)));
    must(ctx, kedge_problem_set(problem, "output", "fields", i % 2 ? "cells" : "full"));
    must(ctx, kedge_problem_set_source(problem, zero, NULL));
    must(ctx, kedge_problem_set_exact(problem, look_and_be_one, zero, zero, NULL));
    const kg_shape shape = shape_of(ctx, mesh, problem);
    kedge_context_set_progress(ctx, look_in_solve, NULL);
    heap_before = heap();
    kedge_solution *solution;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    kedge_context_set_progress(ctx, NULL, NULL);
    const int64_t layout = kg_prepared_bytes(&shape) - mesh_bytes;
    assert_predicted(heap_in_solve, KG_STAGE_TRACE_SOLVE, &shape, layout);
    assert_predicted(heap_in_postprocess, KG_STAGE_POSTPROCESS, &shape, layout);
    const int64_t scratch = (int64_t)ctx->scratch_bytes, peak = kg_peak_bytes(&shape);
    const int64_t predicted =
        kg_memory_needed(ctx, &shape, peak).host - kg_host_bytes(&shape) - peak;
    assert_true(scratch <= predicted && 2 * scratch > predicted);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void lines_of_edges_take_what_was_predicted(void **state)
{
  (void)state;
  if (heap() == 0) skip();
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "ring 40 1200", &mesh));
  kedge_problem *problem = dirichlet(ctx, "1", "matrix-free");
  must(ctx, kedge_problem_set(problem, "solver", "preconditioner", "multigrid"));
  must(ctx, kedge_problem_set(problem, "solver", "smoother", "line"));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  must(ctx, kg_elliptic_prepare(&p));
  kg_edge_lines lines;
  const int64_t before = heap();
  must(ctx, kg_edge_lines_create(ctx, mesh, &p.space.cut->layout, &lines));
  const double taken = (double)(heap() - before);
  assert_true(lines.n_steps > 1000);
  assert_at_most(fabs((double)kg_edge_lines_bytes(lines.n_lines, lines.n_steps) / taken - 1.0),
                 0.02);
  kg_edge_lines_free(&lines);
  kg_elliptic_free(&p);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// What the GPU itself says is gone, beside its books.
static void gpu_memory_is_what_was_predicted(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) skip();
  kedge_mesh *mesh = square_mesh(ctx, 500);
  kedge_problem *problem = dirichlet(ctx, "4", "matrix-free");
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));  // kernels are loaded now
  kedge_solution_report(solution, &report);
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  must(ctx, kg_elliptic_prepare(&p));
  const int64_t before = kg_free_bytes(ctx);
  kg_memory_plan(&p.shape, &p.plan, &p.arrays);
  must(ctx, kg_elliptic_commit(&p));
  const int64_t most = before - kg_free_bytes(ctx);
  kg_elliptic_free(&p);
  assert_true(most > 300000000);
  assert_at_most(fabs((double)report.peak_device_bytes / (double)most - 1.0), 0.05);
  assert_at_most(fabs((double)report.predicted_device_bytes / (double)most - 1.0), 0.05);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(host_memory_is_what_was_predicted),
      cmocka_unit_test(lines_of_edges_take_what_was_predicted),
      cmocka_unit_test(gpu_memory_is_what_was_predicted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

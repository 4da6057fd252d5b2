// One set-up, many solves: in memory that stays, as predicted.
#include <malloc.h>

#include "backend.h"
#include "device/context.h"
#include "repeated.h"

static int64_t heap(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

/// Texts of the data take memory that differs: the same ones are compared. A block may get a few
/// bytes more than it asked for; a block that every solve leaves is 32 bytes at least each time.
static void a_hundred_solves_take_no_more_memory_than_a_few(void **state)
{
  (void)state;
  enum { SOLVES = 100 };
  for (int i = 0; i < SAMPLES; i += 3) {
    bench b = bench_of(&samples[i]);
    const int64_t held = b.ctx->bytes_in_use + solution_bytes(&b);
    int64_t early = 0;
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], (SOLVES - 1) % DATA);
    kedge_solution *again = NULL;
    for (int k = 0; k < SOLVES; ++k) {
      solve_again(b.ctx, b.solver, k % DATA, &again);
      assert_int_equal(b.ctx->bytes_in_use, held);
      assert_int_equal(b.ctx->bytes_peak, held);
      if (k == SOLVES / 2) early = heap();
    }
    const bool has_driver = kedge_context_backend(b.ctx) == KEDGE_BACKEND_CUDA;  // and its heap
    assert_true(has_driver || heap() - early < 32 * SOLVES / 4);
    assert_same_solve(b.ctx, again, fresh);
    kedge_solution_destroy(fresh);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static void the_memory_of_a_solver_is_predicted(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    kedge_plan plan = KEDGE_PLAN_INIT;
    bench b = bench_of(&samples[i]);
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
    must(b.ctx, kedge_solver_report(b.solver, &report));
    assert_int_equal(plan.peak_bytes[plan.operator_kind], b.ctx->bytes_in_use);
    assert_int_equal(report.predicted_device_bytes, b.ctx->bytes_in_use);
    assert_int_equal(report.peak_device_bytes, b.ctx->bytes_in_use);
    assert_true(plan.fits[plan.operator_kind]);
    bench_free(&b);
  }
}

static void a_solver_holds_little_more_than_a_solve_at_its_peak(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "4", "6"};
  static const char *const precisions[] = {"double", "mixed", "compact"};
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = square_mesh(ctx, 120);
  for (int i = 0; i < 12; ++i) {
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"space", "order", orders[i / 3]}, {"boundary default", "type", "dirichlet"},
                      {"boundary default", "value", "0"}, {"solver", "preconditioner", "multigrid"},
                      {"solver", "precision", precisions[i % 3]}));
    kedge_plan once = KEDGE_PLAN_INIT, many = KEDGE_PLAN_INIT;
    must(ctx, kedge_plan_make(ctx, mesh, problem, &once));
    must(ctx, kedge_solver_plan(ctx, mesh, problem, &many));
    const double ratio = (double)many.peak_bytes[0] / (double)once.peak_bytes[0];
    if (ratio > 1.08) fail_msg("order %s, %s: %.3f times", orders[i / 3], precisions[i % 3], ratio);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hundred_solves_take_no_more_memory_than_a_few),
      cmocka_unit_test(the_memory_of_a_solver_is_predicted),
      cmocka_unit_test(a_solver_holds_little_more_than_a_solve_at_its_peak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

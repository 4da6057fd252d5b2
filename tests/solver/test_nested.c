// A start from a lower order, through the public API.
#include <string.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "repeat.h"
#include "support.h"

#define MIXED(order_text, preconditioner_name, precision_name, start_name)                  \
  SETTINGS(MIXED_CONDITIONS(order_text), {"solver", "preconditioner", preconditioner_name}, \
           {"solver", "precision", precision_name}, {"solver", "start", start_name})

static kedge_report report_from(const kedge_solution *solution)
{
  kedge_report r;
  kedge_solution_report(solution, &r);
  return r;
}

static void the_solution_is_that_of_a_start_from_zero(void **state)
{
  (void)state;
  static const struct {
    const char *order, *preconditioner, *precision;
  } cases[] = {{"2", "multigrid", "double"}, {"4", "multigrid", "double"},
               {"4", "multigrid", "mixed"},  {"7", "multigrid", "mixed"},
               {"3", "jacobi", "double"},    {"8", "jacobi", "double"}};
  const int sizes[] = {2, 33, 400};
  for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh = test_irregular_mesh(ctx, sizes[i % 3]);
    const char *order = cases[i / 3].order, *kind = cases[i / 3].preconditioner;
    kedge_solution *zero = solve(ctx, mesh, MIXED(order, kind, cases[i / 3].precision, "zero"));
    kedge_solution *nested = solve(ctx, mesh, MIXED(order, kind, cases[i / 3].precision, "nested"));
    const kedge_report a = report_from(zero), b = report_from(nested);
    assert_true(a.converged && b.converged);
    assert_int_equal(a.start_order, 0);
    assert_true(a.start_residual == 1.0 && b.start_residual < 1.0);
    assert_true(b.start_order >= 1 && b.start_order < b.order);
    assert_true(b.start_iterations > 0 && b.start_seconds > 0.0);
    assert_true(b.iterations <= a.iterations);
    fields of_zero = fields_of(ctx, zero), of_nested = fields_of(ctx, nested);
    // Residuals of 1e-10 leave errors of that times the condition of the trace system, below 1000.
    assert_at_most(fields_distance(&of_nested, &of_zero), 1000.0 * 1e-10);
    fields_free(&of_zero);
    fields_free(&of_nested);
    kedge_solution_destroy(zero);
    kedge_solution_destroy(nested);
    kedge_mesh_destroy(mesh);
  }
}

/// The residual of the start is small, and the tolerance is not relative to it.
static void the_tolerance_is_relative_to_a_start_from_zero(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 20", &mesh));
  for (int k = 0; k < 2; ++k) {
    const char *tolerance = k == 0 ? "1e-8" : "1e-2";
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"space", "order", "4"}, {"boundary default", "type", "dirichlet"},
                 {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)+x"}, {"solver", "start", "nested"},
                 {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", tolerance}));
    kedge_solution *solution;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    const kedge_report nested = report_from(solution);
    kedge_solution_destroy(solution);
    must(ctx, kedge_problem_set(problem, "solver", "start", "zero"));
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    const kedge_report zero = report_from(solution);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
    assert_true(nested.converged && nested.relative_residual <= nested.tolerance);
    if (k == 0) {
      assert_in_range(nested.iterations, 1, zero.iterations - 3);
      assert_true(nested.relative_residual > 1e-3 * nested.tolerance);
    } else {
      assert_int_equal(nested.iterations, 0);
      assert_true(nested.relative_residual == nested.start_residual);
    }
  }
  kedge_mesh_destroy(mesh);
}

static void where_no_lower_order_pays_the_start_is_zero(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "5"};
  kedge_mesh *mesh = test_irregular_mesh(ctx, 100);
  for (int k = 0; k < 2; ++k) {
    kedge_solution *zero = solve(ctx, mesh, MIXED(orders[k], "multigrid", "double", "zero"));
    kedge_solution *nested = solve(ctx, mesh, MIXED(orders[k], "multigrid", "double", "nested"));
    assert_int_equal(report_from(nested).start_order, 0);
    fields a = fields_of(ctx, zero), b = fields_of(ctx, nested);
    assert_same_bits(&a, &b);
    fields_free(&a);
    fields_free(&b);
    kedge_solution_destroy(zero);
    kedge_solution_destroy(nested);
  }
  kedge_mesh_destroy(mesh);
}

static void two_runs_and_other_numbers_of_threads_give_the_same_bits(void **state)
{
  (void)state;
  assert_repeatable(ctx, MIXED("4", "multigrid", "double", "nested"));
}

static void no_more_memory_is_taken_than_was_predicted(void **state)
{
  (void)state;
  static const char *const kinds[] = {"jacobi", "multigrid", "multigrid"};
  static const char *const precisions[] = {"double", "double", "mixed"};
  static const char *const smoothers[] = {"auto", "element", "edge"};
  static const char *const steps[] = {"1", "2", "2"};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, "square 60", &mesh));
    int64_t bytes[2];
    for (int nested = 0; nested < 2; ++nested) {
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", "4"}, {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "x"}, {"solver", "smoothing_steps", steps[k]},
                   {"solver", "tolerance", "1e-3"}, {"solver", "preconditioner", kinds[k]},
                   {"solver", "smoother", smoothers[k]}, {"solver", "precision", precisions[k]},
                   {"solver", "start", nested ? "nested" : "zero"}));
      assert_true(r.peak_device_bytes <= r.predicted_device_bytes);
      bytes[nested] = r.peak_device_bytes;
    }
    assert_true(bytes[1] > bytes[0]);
    kedge_mesh_destroy(mesh);
  }
}

static void other_operators_refuse_it(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "x"}, {"solver", "operator", "ell"},
                               {"solver", "start", "nested"}));
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                      "start = nested needs operator = matrix-free: the lower order is a part of "
                      "the packed local matrices, which operator = ell does not keep; change one "
                      "of the two");
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_solution_is_that_of_a_start_from_zero),
      cmocka_unit_test(the_tolerance_is_relative_to_a_start_from_zero),
      cmocka_unit_test(where_no_lower_order_pays_the_start_is_zero),
      cmocka_unit_test(two_runs_and_other_numbers_of_threads_give_the_same_bits),
      cmocka_unit_test(no_more_memory_is_taken_than_was_predicted),
      cmocka_unit_test(other_operators_refuse_it),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// Solves agree: the same solve on other backends, with other numbers of threads, again, and with
// the other operators.
#include <stdlib.h>

#include "backend.h"
#include "compare.h"
#include "grid.h"
#include "support.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_rt.h"
#endif

static kedge_context *host, *device;

static int open_contexts(void **state)
{
  (void)state;
  host = open_backend(KEDGE_BACKEND_HOST, 2);
  device = open_backend(test_backend(), 2);
  return 0;
}

static int close_contexts(void **state)
{
  (void)state;
  kedge_context_destroy(device);
  kedge_context_destroy(host);
  return 0;
}

typedef struct variant {
  kedge_context *ctx;
  int order;
  const char *operator_name, *tolerance;
} variant;

typedef struct outcome {
  fields values;
  kedge_report report;
} outcome;

/// Mixed conditions, coefficients that are not 1.
static outcome outcome_of(variant v, const kedge_mesh *mesh)
{
  char order[8];
  snprintf(order, sizeof order, "%d", v.order);
  kedge_solution *solution = solve(
      v.ctx, mesh,
      SETTINGS({"space", "order", order}, {"space", "stabilization", "1"},
               {"equation", "diffusion", "0.8"}, {"equation", "reaction", "1.5"},
               {"exact", "u", "sin(x)*cos(0.7*y)+0.1*x*y"}, {"boundary 7", "type", "dirichlet"},
               {"boundary default", "type", "neumann"}, {"solver", "operator", v.operator_name},
               {"solver", "preconditioner", "jacobi"}, {"solver", "tolerance", v.tolerance}));
  outcome out = {.values = fields_of(v.ctx, solution)};
  out.report = (kedge_report)KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &out.report);
  out.report.solver_note = "";
  kedge_solution_destroy(solution);
  return out;
}

static const char *const operators[] = {"matrix-free", "matrix-free-plain", "ell"};

static void u_q_and_u_star_agree_with_the_host_to_1e_12(void **state)
{
  (void)state;
  kedge_mesh *of_host = test_irregular_mesh(host, 33), *of_device = test_irregular_mesh(device, 33);
  for (int order = 1; order <= 9; ++order)
    for (int k = 0; k < 3; ++k) {
      // Asked for more than rounding allows, the iteration goes as far as it can.
      outcome a = outcome_of((variant){host, order, "matrix-free", "1e-15"}, of_host);
      outcome b = outcome_of((variant){device, order, operators[k], "1e-15"}, of_device);
      assert_at_most(fields_distance(&b.values, &a.values), 1e-12);
      assert_at_most(fabs(b.report.u_l2 - a.report.u_l2), 1e-12);
      assert_at_most(fabs(b.report.q_l2 - a.report.q_l2), 1e-12);
      assert_at_most(fabs(b.report.u_star_l2 - a.report.u_star_l2), 1e-12);
      fields_free(&a.values);
      fields_free(&b.values);
    }
  kedge_mesh_destroy(of_host);
  kedge_mesh_destroy(of_device);
}

static void assert_same_outcome(outcome *a, outcome *b)
{
  assert_same_bits(&a->values, &b->values);
  assert_int_equal(a->report.iterations, b->report.iterations);
  assert_true(a->report.relative_residual == b->report.relative_residual);
  assert_true(a->report.u_l2 == b->report.u_l2 && a->report.u_linf == b->report.u_linf);
  assert_true(a->report.q_l2 == b->report.q_l2 && a->report.u_star_l2 == b->report.u_star_l2);
}

static void two_runs_and_other_numbers_of_threads_give_the_same_bits(void **state)
{
  (void)state;
  const int threads[] = {2, 1, 3, 5};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh = test_irregular_mesh(device, 1000);
    outcome first = outcome_of((variant){device, 3, operators[k], "1e-12"}, mesh);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; ++i) {
      kedge_context *ctx = open_backend(test_backend(), threads[i]);
      kedge_mesh *again = test_irregular_mesh(ctx, 1000);
      outcome other = outcome_of((variant){ctx, 3, operators[k], "1e-12"}, again);
      assert_same_outcome(&first, &other);
      fields_free(&other.values);
      kedge_mesh_destroy(again);
      kedge_context_destroy(ctx);
    }
    fields_free(&first.values);
    kedge_mesh_destroy(mesh);
  }
}

#ifdef KEDGE_WITH_CUDA
/// A loop in a graph, and graphs that the host launches one after another, as with older drivers.
static void graphs_with_and_without_a_loop_give_the_same_bits(void **state)
{
  (void)state;
  if (device->backend != KEDGE_BACKEND_CUDA) skip();
  kg_cuda_state *cuda = kg_cuda(device);
  const bool loops = cuda->loops, cooperates = cuda->cooperates;
  kedge_mesh *mesh = test_irregular_mesh(device, 1000);
  cuda->cooperates = false;  // else small problems record nothing
  for (int k = 0; k < 3; ++k) {
    cuda->loops = loops;
    outcome one = outcome_of((variant){device, 4, operators[k], "1e-12"}, mesh);
    cuda->loops = false;
    outcome other = outcome_of((variant){device, 4, operators[k], "1e-12"}, mesh);
    assert_true(one.report.iterations > 50);
    assert_same_outcome(&one, &other);
    fields_free(&one.values);
    fields_free(&other.values);
  }
  cuda->loops = loops;
  cuda->cooperates = cooperates;
  kedge_mesh_destroy(mesh);
}
#endif

static kedge_report of_king(const kedge_mesh *mesh, int order, const char *operator_name)
{
  char text[8];
  snprintf(text, sizeof text, "%d", order);
  return report_of(
      device, mesh,
      SETTINGS({"space", "order", text}, {"boundary default", "type", "dirichlet"},
               {"equation", "reaction", "1"}, {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)"},
               {"solver", "operator", operator_name}, {"solver", "preconditioner", "jacobi"}));
}

/// The quick cases of docs/king2014.md#iterations, at the default tolerance.
static void all_operators_need_the_same_iterations_on_kings_cases(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(device, kedge_mesh_generate(device, "square 20", &mesh));
  for (int order = 1; order <= 9; ++order) {
    const kedge_report a = of_king(mesh, order, operators[0]);
    assert_true(a.converged);
    for (size_t k = 1; k < sizeof operators / sizeof *operators; ++k) {
      const kedge_report b = of_king(mesh, order, operators[k]);
      assert_true(b.converged);
      assert_in_range(b.iterations + 1, a.iterations, a.iterations + 2);
    }
  }
  kedge_mesh_destroy(mesh);
}

/// Counted to 1e-3. From 1e-4 on rounding changes the residual of an iteration by up to a tenth,
/// also between operators of the host, and where the residual hardly falls that is two iterations.
static void assert_same_iterations(const kedge_mesh *mesh, int order, const char *other)
{
  outcome a = outcome_of((variant){device, order, operators[0], "1e-3"}, mesh);
  outcome b = outcome_of((variant){device, order, other, "1e-3"}, mesh);
  // On a few elements the iteration lasts about as long as there are unknowns; the last ones then
  // are a matter of rounding, too.
  if (a.report.trace_unknowns > 5 * a.report.iterations)
    assert_in_range(b.report.iterations + 1, a.report.iterations, a.report.iterations + 2);
  fields_free(&a.values);
  fields_free(&b.values);
}

static void assert_agreement(outcome *a, outcome *b)
{
  assert_true(a->report.converged && b->report.converged);
  // Residuals of 1e-10 leave errors of that times the condition of the trace system, below 1000
  // here; that both solve the same system to rounding is tested above.
  assert_at_most(fields_distance(&a->values, &b->values), 1000.0 * 1e-10);
}

static void all_operators_need_the_same_iterations_and_find_the_same_solution(void **state)
{
  (void)state;
  const int sizes[] = {1, 2, 33, 257, 400};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    kedge_mesh *mesh = test_irregular_mesh(device, sizes[i]);
    for (int order = 1; order <= 9; order += sizes[i] > 100 ? 2 : 1) {
      outcome a = outcome_of((variant){device, order, operators[0], "1e-10"}, mesh);
      assert_string_equal(a.report.operator_name, operators[0]);
      for (int k = 1; k < 3; ++k) {
        outcome b = outcome_of((variant){device, order, operators[k], "1e-10"}, mesh);
        assert_string_equal(b.report.operator_name, operators[k]);
        assert_agreement(&a, &b);
        assert_same_iterations(mesh, order, operators[k]);
        fields_free(&b.values);
      }
      fields_free(&a.values);
    }
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(u_q_and_u_star_agree_with_the_host_to_1e_12),
      cmocka_unit_test(two_runs_and_other_numbers_of_threads_give_the_same_bits),
#ifdef KEDGE_WITH_CUDA
      cmocka_unit_test(graphs_with_and_without_a_loop_give_the_same_bits),
#endif
      cmocka_unit_test(all_operators_need_the_same_iterations_on_kings_cases),
      cmocka_unit_test(all_operators_need_the_same_iterations_and_find_the_same_solution),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

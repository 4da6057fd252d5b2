// Memory that a solve asks for in vain, on the device or on the host, at every place: a sentence,
// nothing left behind.
#include <string.h>

#include "context.h"
#include "core/memory.h"
#include "methods.h"
#include "support.h"
#include "wrap.h"

static kedge_mesh *mesh;
static const kg_backend_table *true_table;
static kg_backend_table scarce_table;

/// Allocations that are granted before one is refused; below 0: all are.
static int device_left = -1, host_left = -1;

static bool is_granted(int *left)
{
  return *left < 0 || (*left)-- > 0;
}

static kedge_status scarce_alloc(kedge_context *context, size_t bytes, void **out)
{
  if (is_granted(&device_left)) return true_table->alloc(context, bytes, out);
  *out = NULL;
  device_left = 0;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room for %zu bytes", bytes);
}

static kedge_status refuse(kedge_context *context, void *out)
{
  *(void **)out = NULL;
  host_left = 0;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room");
}

WRAP(kedge_status, kg_host_alloc, kedge_context *context, size_t count, size_t size, void *out)
{
  return is_granted(&host_left) ? REAL(kg_host_alloc)(context, count, size, out)
                                : refuse(context, out);
}

WRAP(kedge_status, kg_host_calloc, kedge_context *context, size_t count, size_t size, void *out)
{
  return is_granted(&host_left) ? REAL(kg_host_calloc)(context, count, size, out)
                                : refuse(context, out);
}

static int open_mesh(void **state)
{
  assert_int_equal(open_context(state), 0);
  must(ctx, kedge_mesh_generate(ctx, "square 16", &mesh));
  true_table = ctx->table;
  scarce_table = *true_table;
  scarce_table.alloc = scarce_alloc;
  ctx->table = &scarce_table;
  return 0;
}

static int close_mesh(void **state)
{
  ctx->table = true_table;
  kedge_mesh_destroy(mesh);
  return close_context(state);
}

typedef kedge_status attempt(const kedge_problem *problem, kedge_solution **out);

static kedge_status solve_once(const kedge_problem *problem, kedge_solution **out)
{
  return kedge_solve(ctx, mesh, problem, out);
}

/// Set up, solve, set up anew, solve. A solver that fails goes on once there is memory.
static kedge_status solve_again(const kedge_problem *problem, kedge_solution **out)
{
  kedge_solver *solver;
  kedge_status status = kedge_solver_create(ctx, mesh, problem, &solver);
  if (status == KEDGE_OK) status = kedge_solver_solve(solver, NULL, out);
  if (status == KEDGE_OK) status = kedge_solver_update(solver);
  if (status == KEDGE_OK) status = kedge_solver_solve(solver, NULL, out);
  if (status != KEDGE_OK && solver) {
    char sentence[400];
    snprintf(sentence, sizeof sentence, "%s", kedge_context_error(ctx));
    kedge_solution_destroy(*out);
    *out = NULL;
    device_left = host_left = -1;
    must(ctx, kedge_solver_update(solver));
    must(ctx, kedge_solver_solve(solver, NULL, out));
    kedge_solution_destroy(*out);
    *out = NULL;
    snprintf(ctx->error, sizeof ctx->error, "%s", sentence);
  }
  kedge_solver_destroy(solver);
  return status;
}

/// Solves again and again, with one allocation more of those that `left` counts, until it succeeds.
/// @return how many failed
static int failures(attempt *make, const kedge_problem *problem, int *left)
{
  for (int allowed = 0;; ++allowed) {
    kedge_solution *solution = NULL;
    *left = allowed;
    const kedge_status status = make(problem, &solution);
    *left = -1;
    if (status == KEDGE_OK) {
      kedge_report report = KEDGE_REPORT_INIT;
      kedge_solution_report(solution, &report);
      assert_true(report.converged);
      kedge_solution_destroy(solution);
      return allowed;
    }
    assert_int_equal(status, KEDGE_ERR_MEMORY);
    assert_non_null(strstr(kedge_context_error(ctx), "no room"));
    assert_null(solution);
    assert_int_equal(ctx->bytes_in_use, 0);
  }
}

static void assert_scarcity_is_survived(attempt *make, const setting *settings, int on_device,
                                        int on_host)
{
  kedge_problem *problem = problem_of(ctx, settings);
  const int device = failures(make, problem, &device_left);
  const int host = failures(make, problem, &host_left);
  if (device < on_device || host < on_host)
    fail_msg("%d and %d allocations, less than %d and %d", device, host, on_device, on_host);
  kedge_problem_destroy(problem);
}

static void every_operator_survives_a_failed_allocation(void **state)
{
  (void)state;
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    assert_scarcity_is_survived(
        solve_once,
        SETTINGS({"exact", "u", "sin(3*x)*y"}, {"boundary default", "type", "dirichlet"},
                 {"solver", "operator", kedge_operator_name((kedge_operator)op)}),
        1, 5);
}

static void every_method_survives_a_failed_allocation(void **state)
{
  (void)state;
  for (const method *m = methods; m < methods + METHODS; m += test_is_quick() ? 5 : 1)
    assert_scarcity_is_survived(
        solve_once,
        SETTINGS({"exact", "u", "sin(3*x)*y"}, {"boundary default", "type", "dirichlet"},
                 {"space", "order", "2"}, METHOD(m)),
        1, 5);
}

static void a_solver_survives_a_failed_allocation_and_goes_on(void **state)
{
  (void)state;
  assert_scarcity_is_survived(
      solve_again,
      SETTINGS({"exact", "u", "sin(3*x)*y"}, {"boundary default", "type", "dirichlet"},
               {"solver", "preconditioner", "multigrid"}),
      1, 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operator_survives_a_failed_allocation),
      cmocka_unit_test(every_method_survives_a_failed_allocation),
      cmocka_unit_test(a_solver_survives_a_failed_allocation_and_goes_on),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}

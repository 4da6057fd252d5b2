// hypre as the solver of multigrid's coarse systems: in a build with it on the host, else refused.
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "kedge/machine.h"
#include "support.h"

#define MIXED(solver_name)                                                               \
  SETTINGS({"space", "order", "3"}, {"exact", "u", "sin(x)*cos(0.7*y)+0.1*x*y"},         \
           {"boundary 7", "type", "dirichlet"}, {"boundary default", "type", "neumann"}, \
           {"solver", "preconditioner", "multigrid"}, {"solver", "coarse_solver", solver_name})

static bool has_hypre(void)
{
  kedge_machine_info info;
  assert_int_equal(kedge_machine_get_info(&info), KEDGE_OK);
  return info.hypre[0] != '\0';
}

static void hypre_solves_like_our_own(void **state)
{
  (void)state;
  if (!has_hypre() || test_backend() == KEDGE_BACKEND_CUDA) skip();
  kedge_mesh *mesh = test_irregular_mesh(ctx, 3001);
  kedge_solution *own = solve(ctx, mesh, MIXED("amg")), *other = solve(ctx, mesh, MIXED("hypre"));
  kedge_report of_own, of_other;
  kedge_solution_report(own, &of_own);
  kedge_solution_report(other, &of_other);
  assert_string_equal(of_own.coarse_solver, "amg");
  assert_string_equal(of_other.coarse_solver, "hypre");
  assert_true(of_other.converged && of_other.multigrid_levels > 2);
  assert_in_range(of_other.iterations + 2, of_own.iterations, of_own.iterations + 4);
  fields a = fields_of(ctx, own), b = fields_of(ctx, other);
  // Residuals of 1e-10 leave errors of that times the condition of the trace system, below 1000.
  assert_at_most(fields_distance(&b, &a), 1000.0 * 1e-10);
  fields_free(&a);
  fields_free(&b);
  kedge_solution_destroy(own);
  kedge_solution_destroy(other);
  kedge_mesh_destroy(mesh);
}

static void hypre_is_refused_where_it_cannot_be(void **state)
{
  (void)state;
  const bool gpu = test_backend() == KEDGE_BACKEND_CUDA;
  if (has_hypre() && !gpu) skip();
  kedge_mesh *mesh = test_irregular_mesh(ctx, 100);
  kedge_problem *problem = problem_of(ctx, MIXED("hypre"));
  assert_string_equal(
      refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
      has_hypre() ? "coarse_solver = hypre works in host memory; take amg, or backend host"
                  : "coarse_solver = hypre: this kedge was built without hypre; take amg, or build "
                    "kedge with -DKEDGE_HYPRE=ON");
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {cmocka_unit_test(hypre_solves_like_our_own),
                                     cmocka_unit_test(hypre_is_refused_where_it_cannot_be)};
  return cmocka_run_group_tests_name("solver.coarse_solver", tests, open_context, close_context);
}

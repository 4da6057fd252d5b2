// Where the arrays of a solve lie, and that none is used in phases in which it does not live.
#include <stdlib.h>

#include "backend.h"
#include "compare.h"
#include "context.h"
#include "device/context.h"
#include "elliptic/stages.h"
#include "elliptic/memory.h"
#include "elliptic/elliptic.h"
#include "support.h"

/// Two keys of [solver] and the reaction.
typedef struct variant {
  const char *key[2], *value[2];
  const char *reaction;
} variant;

static const variant variants[] = {
    {{"precision", "smoothing_steps"}, {"double", "1"}, "0"},
    {{"precision", "smoothing_steps"}, {"double", "3"}, "1"},
    {{"precision", "smoothing_steps"}, {"mixed", "2"}, "0"},
    {{"precision", "smoother"}, {"mixed", "line"}, "0"},
    {{"precision", "smoother"}, {"double", "line"}, "0"},
    {{"preconditioner", "smoother"}, {"block-jacobi", "line"}, "0"},
    {{"preconditioner", "tolerance"}, {"jacobi", "1e-8"}, "0"},
    {{"preconditioner", "operator"}, {"jacobi", "ell"}, "1"},
    {{"preconditioner", "operator"}, {"jacobi", "matrix-free-plain"}, "0"},
    {{"precision", "smoother"}, {"mixed", "edge"}, "1"},
    {{"precision", "smoother"}, {"compact", "edge"}, "0"},
    {{"precision", "smoother"}, {"compact", "edge"}, "1"},
    {{"precision", "smoother"}, {"compact", "line"}, "0"}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static kedge_problem *variant_of(const variant *v, const char *order)
{
  return problem_of(
      ctx,
      SETTINGS({"space", "order", order}, {"exact", "u", "sin(x)*exp(y)"},
               {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "multigrid"},
               {"equation", "reaction", v->reaction}, {"solver", v->key[0], v->value[0]},
               {"solver", v->key[1], v->value[1]}));
}

static void places_are_within_three_hundredths_of_what_one_phase_needs(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "4", "8"};
  kedge_mesh *mesh = square_mesh(ctx, 101);
  for (int p = 0; p < 3; ++p)
    for (int k = 0; k < VARIANTS; ++k) {
      kedge_problem *problem = variant_of(&variants[k], orders[p]);
      kg_elliptic elliptic = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
      must(ctx, kg_elliptic_prepare(&elliptic));
      for (int stays = 0; stays < 2; ++stays) {
        elliptic.shape.choice.loads_stay = stays;
        kg_memory_plan(&elliptic.shape, &elliptic.plan, &elliptic.arrays);
        const double least = (double)kg_plan_live_bytes(&elliptic.plan, ~0u);
        assert_at_most((double)elliptic.plan.bytes / least, 1.03);
      }
      kg_elliptic_free(&elliptic);
      kedge_problem_destroy(problem);
    }
  kedge_mesh_destroy(mesh);
}

/// The shadow backend fills arrays with NaN outside the phases in which they live, and finds writes
/// there. Where arrays lie apart that finds all mistakes, not only those over another array.
static void solves_with_arrays_apart_and_over_each_other_have_the_same_bits(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 12);
  for (int k = 0; k < VARIANTS; ++k) {
    kedge_problem *problem = variant_of(&variants[k], k % 2 ? "2" : "5");
    kedge_solution *solutions[2];
    kedge_report reports[2] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
    for (int apart = 0; apart < 2; ++apart) {
      ctx->arrays_apart = apart;
      const kedge_status status = kedge_solve(ctx, mesh, problem, &solutions[apart]);
      ctx->arrays_apart = false;
      must(ctx, status);
      kedge_solution_report(solutions[apart], &reports[apart]);
    }
    assert_true(reports[0].converged);
    assert_true(reports[0].peak_device_bytes < reports[1].peak_device_bytes);
    fields a = fields_of(ctx, solutions[0]), b = fields_of(ctx, solutions[1]);
    assert_same_bits(&a, &b);
    fields_free(&a);
    fields_free(&b);
    kedge_solution_destroy(solutions[0]);
    kedge_solution_destroy(solutions[1]);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_within_three_hundredths_of_what_one_phase_needs),
      cmocka_unit_test(solves_with_arrays_apart_and_over_each_other_have_the_same_bits),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

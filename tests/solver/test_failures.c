// What a solve says when a part of multigrid is wrong. Each part is spoilt on purpose by a function
// of this file (wrap.h); nothing is left behind, what the sentence advises helps, and the same
// context goes on.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "precondition/amg/aggregate.h"
#include "precondition/bound.h"
#include "precondition/amg/csr_diagonal.h"
#include "ops/smooth/vertex_matrix.h"
#include "support.h"
#include "wrap.h"

/// Factors, 1 where nothing is wrong.
typedef struct faults {
  double estimate;  ///< of the bound that one step takes from the shapes of the elements
  double measured;  ///< of the bound that Lanczos' method finds
  double growth;    ///< of the bound of a level of aggregates
  double diagonal;  ///< of the diagonal of the coarse matrix
  bool stalls;      ///< there is an aggregate less than rows
} faults;

static const faults none = {1.0, 1.0, 1.0, 1.0, false};
static faults fault;

WRAP(double, kg_smoother_estimate, kedge_smoother kind, int order, double alignment)
{
  return fault.estimate * REAL(kg_smoother_estimate)(kind, order, alignment);
}

WRAP(kedge_status, kg_multigrid_bound, kedge_context *context, const kg_cg *cg,
     const kg_cycle *blocks, double *out)
{
  KG_TRY(REAL(kg_multigrid_bound)(context, cg, blocks, out));
  *out *= fault.measured;
  return KEDGE_OK;
}

WRAP(kedge_status, kg_csr_growth, kedge_context *context, const kg_csr_norms_args *args,
     double *growth)
{
  KG_TRY(REAL(kg_csr_growth)(context, args, growth));
  *growth *= fault.growth;
  return KEDGE_OK;
}

WRAP(kedge_status, kg_vertex_matrix_fill, kedge_context *context, const kg_vertex_matrix_args *args)
{
  const size_t n = (size_t)args->space.n_rows, bytes = n * sizeof(double);
  KG_TRY(REAL(kg_vertex_matrix_fill)(context, args));
  double *diagonal = malloc(bytes);
  assert_non_null(diagonal);
  kedge_status status = kg_copy_out(context, diagonal, args->diagonal, bytes);
  if (status == KEDGE_OK) status = kg_sync(context);
  for (size_t i = 0; i < n; ++i) diagonal[i] *= fault.diagonal;
  if (status == KEDGE_OK) status = kg_copy_in(context, args->diagonal, diagonal, bytes);
  if (status == KEDGE_OK) status = kg_sync(context);
  free(diagonal);
  return status;
}

WRAP(kedge_status, kg_aggregate, kedge_context *context, const kg_aggregate_args *args,
     int32_t *n_aggregates)
{
  KG_TRY(REAL(kg_aggregate)(context, args, n_aggregates));
  if (fault.stalls) *n_aggregates = args->matrix.n_rows - 1;
  return KEDGE_OK;
}

typedef struct solving {
  const char *mesh, *order;
  const char *smoother;  ///< NULL: without multigrid
  const char *steps, *precision;
} solving;

static kedge_problem *problem_with(solving how)
{
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", how.order}, {"boundary default", "type", "dirichlet"},
                    {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)+x"},
                    {"solver", "preconditioner", how.smoother ? "multigrid" : "jacobi"}));
  if (!how.smoother) return problem;
  must(ctx, kedge_problem_set(problem, "solver", "smoother", how.smoother));
  must(ctx, kedge_problem_set(problem, "solver", "smoothing_steps", how.steps));
  if (how.precision) must(ctx, kedge_problem_set(problem, "solver", "precision", how.precision));
  return problem;
}

static void assert_solves(const kedge_mesh *mesh, solving how, faults wrong)
{
  kedge_problem *problem = problem_with(how);
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  fault = wrong;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  fault = none;
  kedge_solution_report(solution, &report);
  assert_true(report.converged);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
}

static void assert_says(const char *sentence, const char *part)
{
  if (!strstr(sentence, part)) fail_msg("'%s' does not say '%s'", sentence, part);
}

/// The solve ends with the sentence, without a solution, and leaves no device memory; what the
/// sentence advises solves the problem with the fault, and the context goes on without.
static void assert_fails(faults wrong, solving how, const char *part, const char *advice,
                         solving advised)
{
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, how.mesh, &mesh));
  kedge_problem *problem = problem_with(how);
  const int64_t before = ctx->bytes_in_use;
  fault = wrong;
  const char *sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC);
  fault = none;
  assert_int_equal(ctx->bytes_in_use, before);
  assert_says(sentence, part);
  assert_says(sentence, advice);
  assert_solves(mesh, advised, wrong);
  assert_solves(mesh, how, none);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static const char not_positive[] =
    "the multigrid preconditioner is not positive definite (r.Mr = -";
static const solving jacobi = {.order = "1"};
/// The advice, which problem_with() follows.
#define WITHOUT "preconditioner = jacobi without settings of multigrid"

/// One step takes its bound from the shapes of the elements; more steps have it measured.
static void a_bound_that_is_too_low_is_reported(void **state)
{
  (void)state;
  faults wrong = none;
  wrong.estimate = 0.5;
  const solving cases[] = {{"square 16", "1", "edge", "1"},
                           {"square 16", "4", "edge", "1", "mixed"},
                           {"lshape 9", "6", "edge", "1"},  // vertex modes
                           {"lshape 9", "2", "edge", "1", "compact"},
                           {"ring 20 40", "3", "line", "1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    solving advised = cases[i];
    advised.steps = "2";
    assert_fails(wrong, cases[i], not_positive, "or take smoothing_steps = 2, which measures",
                 advised);
  }
}

static void a_measured_bound_that_is_too_low_is_reported(void **state)
{
  (void)state;
  faults wrong = none;
  wrong.measured = 0.6;
  const solving cases[] = {{"square 16", "4", "edge", "2"}, {"ring 20 40", "3", "line", "2"}};
  for (size_t i = 0; i < 2; ++i)
    assert_fails(wrong, cases[i], not_positive, "diffusion / h, or take " WITHOUT, jacobi);
}

/// The wrong bound is that of a level of aggregates. The cycle on the trace cannot tell it from its
/// own.
static void a_bound_of_a_coarse_level_that_is_too_low_is_reported(void **state)
{
  (void)state;
  faults wrong = none;
  wrong.growth = 0.4;
  assert_fails(wrong, (solving){"square 48", "2", "edge", "1"}, not_positive, "or " WITHOUT,
               jacobi);
}

/// With the inverse at once, and with levels of aggregates above it.
static void a_coarse_matrix_that_is_not_positive_definite_is_reported(void **state)
{
  (void)state;
  const char *advice = "or use " WITHOUT;
  faults wrong = none;
  wrong.diagonal = 0.5;
  assert_fails(wrong, (solving){"square 6", "2", "edge", "1"},
               "the coarsest matrix of the multigrid (49 rows) is not positive definite", advice,
               jacobi);
  wrong.diagonal = -1.0;
  assert_fails(wrong, (solving){"square 48", "2", "edge", "1"},
               "a coarse matrix of the multigrid (2401 rows) has a diagonal entry that is not a "
               "positive number",
               advice, jacobi);
}

static void aggregates_that_hardly_reduce_the_rows_are_reported(void **state)
{
  (void)state;
  faults wrong = none;
  wrong.stalls = true;
  assert_fails(wrong, (solving){"square 48", "2", "edge", "1"},
               "the multigrid cannot make 2401 rows fewer (2400 aggregates), which are too many",
               "use " WITHOUT, jacobi);
}

int main(void)
{
  test_skip_without_backend();
  fault = none;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bound_that_is_too_low_is_reported),
      cmocka_unit_test(a_measured_bound_that_is_too_low_is_reported),
      cmocka_unit_test(a_bound_of_a_coarse_level_that_is_too_low_is_reported),
      cmocka_unit_test(a_coarse_matrix_that_is_not_positive_definite_is_reported),
      cmocka_unit_test(aggregates_that_hardly_reduce_the_rows_are_reported),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}

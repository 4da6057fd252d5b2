// Problems that cannot be solved, and what the sentence says about them; nothing leaks on the way.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

static kedge_mesh *mesh;

static int open_mesh(void **state)
{
  assert_int_equal(open_context(state), 0);
  must(ctx, kedge_mesh_generate(ctx, "square 4", &mesh));
  return 0;
}

static int close_mesh(void **state)
{
  kedge_mesh_destroy(mesh);
  return close_context(state);
}

static void assert_sentence(const char *sentence, const char *part)
{
  if (!sentence || !strstr(sentence, part))
    fail_msg("'%s' does not say '%s'", sentence ? sentence : "", part);
}

/// The context holds what it held before: nothing leaks, and it still solves.
static void assert_still_works(int64_t bytes_before)
{
  assert_int_equal(ctx->bytes_in_use, bytes_before);
  const kedge_report r = report_of(
      ctx, mesh, SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"}));
  assert_true(r.converged);
}

static void assert_refused(kedge_problem *problem, kedge_status status, const char *part)
{
  const int64_t before = ctx->bytes_in_use;
  assert_sentence(refusal_of(ctx, mesh, problem, status), part);
  kedge_problem_destroy(problem);
  assert_still_works(before);
}

static void pure_neumann_without_reaction_is_refused(void **state)
{
  (void)state;
  assert_refused(problem_of(ctx, SETTINGS({"boundary default", "type", "neumann"},
                                          {"boundary default", "value", "0"})),
                 KEDGE_ERR_INPUT,
                 "all boundaries are neumann and reaction is 0: the solution is determined only up "
                 "to a constant; make one boundary dirichlet or reaction positive");
}

static void a_boundary_that_is_not_covered_is_refused(void **state)
{
  (void)state;
  assert_refused(problem_of(ctx, SETTINGS({"boundary left", "type", "dirichlet"},
                                          {"boundary left", "value", "0"})),
                 KEDGE_ERR_INPUT, "(4 edges) has no condition; add [boundary ");
}

static void a_length_beside_a_stabilization_is_refused(void **state)
{
  (void)state;
  assert_refused(
      problem_of(ctx, SETTINGS({"space", "stabilization", "2/h"}, {"space", "length", "3"},
                               {"exact", "u", "x"}, {"boundary default", "type", "dirichlet"})),
      KEDGE_ERR_INPUT, "length has no effect beside stabilization = 2/h; leave one of them out");
}

/// By solves and by plans.
static void what_quadrilaterals_do_not_have_is_refused(void **state)
{
  (void)state;
  static const struct {
    setting asked;
    const char *sentence;
  } table[] = {
      {{"space", "order", "9"}, "orders 1 to 8: take one of them"},
      {{"solver", "operator", "matrix-free-plain"}, "operator = matrix-free or ell: take one"},
      {{"solver", "smoother", "line"}, "smoother = edge: take that"}};
  const int64_t before = ctx->bytes_in_use;
  kedge_mesh *quads;
  must(ctx, kedge_mesh_generate(ctx, "quads 3", &quads));
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    kedge_problem *problem =
        problem_of(ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", "0"}, table[i].asked));
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "quads 3: the mesh has 9 quadrilaterals, on which kedge solves with %s, or mesh "
             "without recombination",
             table[i].sentence);
    assert_string_equal(refusal_of(ctx, quads, problem, KEDGE_ERR_INPUT), sentence);
    kedge_plan plan = KEDGE_PLAN_INIT;
    assert_int_equal(kedge_plan_make(ctx, quads, problem, &plan), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(ctx), sentence);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(quads);
  assert_still_works(before);
}

/// By solves and by plans.
static void a_group_that_the_mesh_has_not_is_refused(void **state)
{
  (void)state;
  assert_refused(problem_of(ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                                          {"boundary default", "value", "0"},
                                          {"boundary lift", "type", "dirichlet"},
                                          {"boundary lift", "value", "0"})),
                 KEDGE_ERR_INPUT, "'left'");
}

/// NaN to the right of x = 0.9.
static void bad_function(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->x[i] > 0.9 ? NAN : 1.0;
}

static void zero_function(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 0.0;
}

static kedge_problem *with_dirichlet(kedge_function *value)
{
  kedge_problem *problem = problem_of(ctx, SETTINGS({"space", "order", "2"}));
  must(ctx, kedge_problem_set_boundary(problem, "default", KEDGE_BOUNDARY_DIRICHLET, value, NULL));
  return problem;
}

/// The sentence names a place; the function is NaN there.
static void assert_bad_place(const char *sentence)
{
  const char *place = strstr(sentence, "x = ");
  double x = 0.0, y = 0.0;
  assert_non_null(place);
  assert_int_equal(sscanf(place, "x = %lf, y = %lf", &x, &y), 2);
  assert_true(x > 0.9 && x <= 1.0 && y >= 0.0 && y <= 1.0);
}

static void a_source_that_is_nan_is_refused_with_the_place(void **state)
{
  (void)state;
  kedge_problem *problem = with_dirichlet(zero_function);
  must(ctx, kedge_problem_set_source(problem, bad_function, NULL));
  const char *sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
  assert_sentence(sentence, "source is nan at x = ");
  assert_bad_place(sentence);
  kedge_problem_destroy(problem);
  assert_still_works(0);
}

static void a_boundary_value_that_is_nan_is_refused_with_the_place(void **state)
{
  (void)state;
  kedge_problem *problem = with_dirichlet(bad_function);
  const char *sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
  assert_sentence(sentence, "the value on boundary ");
  assert_sentence(sentence, " is nan at x = ");
  assert_bad_place(sentence);
  kedge_problem_destroy(problem);
  assert_still_works(0);
}

static void an_exact_solution_that_is_nan_is_refused_with_the_place(void **state)
{
  (void)state;
  kedge_problem *problem = with_dirichlet(zero_function);
  must(ctx, kedge_problem_set_source(problem, zero_function, NULL));
  must(ctx, kedge_problem_set_exact(problem, zero_function, bad_function, zero_function, NULL));
  const char *sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
  assert_sentence(sentence, "du/dx of exact u is nan at x = ");
  assert_bad_place(sentence);
  kedge_problem_destroy(problem);
  assert_still_works(0);
}

static void no_source_is_derived_from_an_exact_solution_that_is_a_function(void **state)
{
  (void)state;
  kedge_problem *problem = with_dirichlet(zero_function);
  must(ctx, kedge_problem_set_exact(problem, zero_function, zero_function, zero_function, NULL));
  assert_refused(problem, KEDGE_ERR_INPUT,
                 "so no source can be derived from it; set the source too");
}

static void coefficients_that_overflow_are_a_numeric_failure(void **state)
{
  (void)state;
  assert_refused(
      problem_of(ctx, SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "1e-300"},
                               {"space", "stabilization", "1e300"}, {"exact", "u", "x*x"},
                               {"boundary default", "type", "dirichlet"})),
      KEDGE_ERR_NUMERIC, "NaN or infinity");
}

#define LOST_DIFFUSION(preconditioner_name)                                                \
  SETTINGS({"space", "order", "2"}, {"space", "stabilization", "1e25"},                    \
           {"exact", "u", "sin(3*x)*cos(2*y)"}, {"boundary default", "type", "dirichlet"}, \
           {"solver", "max_iterations", "2000"},                                           \
           {"solver", "preconditioner", preconditioner_name})

/// Diffusion is lost in the rounding of the local matrices, and blocks of edges are singular.
static void a_stabilization_beyond_double_precision_is_refused(void **state)
{
  (void)state;
  assert_refused(problem_of(ctx, LOST_DIFFUSION("multigrid")), KEDGE_ERR_NUMERIC,
                 "choose a stabilization nearer to diffusion / h");
}

/// Jacobi sees the diagonal alone, whose rounding may leave it positive.
static void a_stabilization_beyond_double_precision_does_not_converge(void **state)
{
  (void)state;
  kedge_problem *problem = problem_of(ctx, LOST_DIFFUSION("jacobi"));
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  const kedge_status status = kedge_solve(ctx, mesh, problem, &solution);
  if (status == KEDGE_OK) {
    kedge_solution_report(solution, &report);
    assert_false(report.converged);
  } else {
    assert_int_equal(status, KEDGE_ERR_NUMERIC);
    assert_null(solution);
  }
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
}

static int64_t one_megabyte(kedge_context *context)
{
  (void)context;
  return 1000000;
}

static void a_solve_that_is_predicted_not_to_fit_is_refused_before_it_allocates(void **state)
{
  (void)state;
  const kg_backend_table *table = ctx->table;
  kg_backend_table small = *table;
  small.free_bytes = one_megabyte;
  ctx->table = &small;
  kedge_mesh *large;
  must(ctx, kedge_mesh_generate(ctx, "square 40", &large));
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "9"}, {"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "0"}, {"solver", "operator", "ell"}));
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(ctx, kedge_plan_make(ctx, large, problem, &plan));
  assert_int_equal(plan.free_bytes, 1000000);
  assert_int_equal(plan.operator_kind, KEDGE_OPERATOR_ELL);
  assert_false(plan.fits[KEDGE_OPERATOR_ELL]);
  char *planned = strdup(kedge_context_error(ctx));
  ctx->bytes_peak = 0;
  const char *sentence = refusal_of(ctx, large, problem, KEDGE_ERR_MEMORY);
  assert_string_equal(sentence, planned);
  free(planned);
  assert_sentence(sentence, "(3200 elements, order 9, operator ell) and 0.00 GB are free");
  assert_int_equal(ctx->bytes_peak, 0);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(large);
  ctx->table = table;
  assert_still_works(0);
}

static void arguments_that_are_missing_or_out_of_range_are_named(void **state)
{
  (void)state;
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"}));
  kedge_solution *solution = NULL;
  double value[1];
  assert_int_equal(kedge_solve(ctx, mesh, problem, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_solve: out is NULL");
  assert_int_equal(kedge_solve(ctx, NULL, problem, &solution), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_solve: context, mesh or problem is NULL");
  assert_int_equal(kedge_plan_make(ctx, mesh, problem, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_plan_make: an argument is NULL");
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  assert_int_equal(kedge_solution_nodes(solution, 0, value), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "nodes of order 0: the order must be 1 to 13");
  assert_int_equal(kedge_solution_values(solution, KEDGE_FIELD_U, 14, value), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "nodes of order 14: the order must be 1 to 13");
  assert_int_equal(kedge_solution_values(solution, KEDGE_FIELD_COUNT, 1, value), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "unknown field 8");
  assert_int_equal(kedge_solution_write(solution, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_solution_write: path is NULL");
  static const char *const names[] = {"u.vtk", "u.vtu", "u", ".hdf", "u.hdf.bak"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    assert_int_equal(kedge_solution_write(solution, names[i]), KEDGE_ERR_ARG);
    assert_sentence(kedge_context_error(ctx), names[i]);
    assert_sentence(kedge_context_error(ctx), ": its name must end in .vtkhdf or .hdf, by which ");
  }
  kedge_solution_destroy(solution);
  kedge_solution_destroy(NULL);
  kedge_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pure_neumann_without_reaction_is_refused),
      cmocka_unit_test(a_boundary_that_is_not_covered_is_refused),
      cmocka_unit_test(a_length_beside_a_stabilization_is_refused),
      cmocka_unit_test(what_quadrilaterals_do_not_have_is_refused),
      cmocka_unit_test(a_group_that_the_mesh_has_not_is_refused),
      cmocka_unit_test(a_source_that_is_nan_is_refused_with_the_place),
      cmocka_unit_test(a_boundary_value_that_is_nan_is_refused_with_the_place),
      cmocka_unit_test(an_exact_solution_that_is_nan_is_refused_with_the_place),
      cmocka_unit_test(no_source_is_derived_from_an_exact_solution_that_is_a_function),
      cmocka_unit_test(coefficients_that_overflow_are_a_numeric_failure),
      cmocka_unit_test(a_stabilization_beyond_double_precision_is_refused),
      cmocka_unit_test(a_stabilization_beyond_double_precision_does_not_converge),
      cmocka_unit_test(a_solve_that_is_predicted_not_to_fit_is_refused_before_it_allocates),
      cmocka_unit_test(arguments_that_are_missing_or_out_of_range_are_named),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}

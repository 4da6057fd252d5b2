// What ends a solve: the tolerance, rounding, or the limit of iterations; and what is said then.
// One file, because all of it is about the reports of the same few solves.
#include <float.h>
#include <math.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "support.h"

/// Neumann conditions alone and little reaction: u is near 100, b near 1e-3, so that rounding u
/// makes some 1e-10 of the residual.
#define LARGE_SOLUTION(preconditioner_name, tolerance_text, iterations) \
  LARGE_BY_REACTION("0.01", preconditioner_name, tolerance_text, iterations)
/// Like the reciprocal of the reaction.
#define LARGE_BY_REACTION(reaction_text, preconditioner_name, tolerance_text, iterations) \
  SETTINGS({"space", "order", "3"}, {"equation", "reaction", reaction_text},              \
           {"equation", "source", "1"}, {"boundary default", "type", "neumann"},          \
           {"boundary default", "value", "0"}, {"solver", "tolerance", tolerance_text},   \
           {"solver", "preconditioner", preconditioner_name},                             \
           {"solver", "max_iterations", iterations})
static const char *const enough = "100000";

static kedge_report of_large_solution(const char *preconditioner, const char *tolerance,
                                      const char *iterations)
{
  return report_on(ctx, "square 24", LARGE_SOLUTION(preconditioner, tolerance, iterations));
}

enum { PRECONDITIONERS = 2 };
static const char *const preconditioners[PRECONDITIONERS] = {"jacobi", "multigrid"};

static void without_a_tolerance_rounding_is_convergence(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const kedge_report r = of_large_solution(preconditioners[k], "auto", enough);
    assert_true(r.converged && r.relative_residual > r.tolerance);
    assert_int_equal(r.stop, KEDGE_STOP_ROUNDING);
    assert_true(r.tolerance == 1e-10 && r.rounding_residual > r.tolerance);
    assert_at_most(r.relative_residual, 16 * r.rounding_residual);
    char note[320];
    snprintf(note, sizeof note,
             "converged to rounding: of the relative residual of %.2e, storing the solution in "
             "double precision makes %.2e, so that 1.0e-10 cannot be reached",
             r.relative_residual, r.rounding_residual);
    assert_string_equal(r.solver_note, note);
  }
}

/// Rounding makes 2e-11 to 9e-11 of the residual, and the recurrence alone ends above 1e-10.
static void where_rounding_leaves_room_auto_goes_on_to_its_tolerance(void **state)
{
  (void)state;
  static const char *const reactions[] = {"0.025", "0.03", "0.04", "0.05", "0.07", "0.1"};
  int restarted = 0;
  for (int i = 0; i < 6 * PRECONDITIONERS; ++i) {
    const char *reaction = reactions[i / PRECONDITIONERS];
    const char *preconditioner = preconditioners[i % PRECONDITIONERS];
    const kedge_report given =
        report_on(ctx, "square 24", LARGE_BY_REACTION(reaction, preconditioner, "1e-10", enough));
    const kedge_report r =
        report_on(ctx, "square 24", LARGE_BY_REACTION(reaction, preconditioner, "auto", enough));
    assert_true(r.converged && r.rounding_residual < r.tolerance);
    assert_null(strstr(r.solver_note, "cannot be reached"));
    assert_int_equal(r.iterations, given.iterations);
    assert_true(r.relative_residual == given.relative_residual);
    restarted += r.stop == KEDGE_STOP_TOLERANCE && r.rounding_residual > 0.0;
  }
  assert_in_range(restarted, 1, 6 * PRECONDITIONERS);
}

/// Neumann conditions that do not balance the source, and next to no reaction: u is 1e9, and the
/// equation of its other parts is lost beside it.
static void rounding_of_the_size_of_the_residual_is_no_convergence(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const kedge_report r =
        report_on(ctx, "square 24",
                  SETTINGS({"space", "order", "3"}, {"equation", "reaction", "1e-9"},
                           {"equation", "source", "1"}, {"boundary default", "type", "neumann"},
                           {"boundary default", "value", "0"},
                           {"solver", "preconditioner", preconditioners[k]}));
    assert_false(r.converged);
    assert_true(r.relative_residual > 1e-3);
    assert_non_null(strstr(r.solver_note, "which is no solution; u may be next to undetermined"));
  }
}

/// By 2000 units of rounding at most, which docs/math.md#little-reaction has from other meshes.
static void digits_of_the_mean_that_rounding_takes_are_said(void **state)
{
  (void)state;
  for (int i = 0; i < 2 * PRECONDITIONERS; ++i) {
    const bool little = i >= PRECONDITIONERS;
    const kedge_report r = converged_on(
        ctx, "square 16",
        SETTINGS({"space", "order", "3"}, {"equation", "reaction", little ? "1e-8" : "1e-2"},
                 {"exact", "u", "1+x^2*y"}, {"boundary default", "type", "neumann"},
                 {"solver", "preconditioner", preconditioners[i % PRECONDITIONERS]}));
    const double part = (little ? 1e-8 : 1e-2) / 256;
    double said = 0.0, change = 0.0;
    if (little) {
      assert_int_equal(sscanf(r.solver_note,
                              "all boundaries are neumann and reaction * h^2 is only %lf of the "
                              "diffusion: rounding may change the mean of u by some %lf of its "
                              "size",
                              &said, &change),
                       2);
      assert_true(fabs(said - part) < 0.1 * part);
      assert_at_most(r.u_l2, change);
    } else {
      assert_null(strstr(r.solver_note, "neumann"));
    }
    assert_at_most(r.u_l2, 2000 * DBL_EPSILON / part);
  }
}

/// Rounding ends the solve and decides about the mean: both are said.
static void a_mean_that_rounding_decides_about_is_said_beside_the_residual(void **state)
{
  (void)state;
  const kedge_report r =
      report_on(ctx, "ring 60 8",
                SETTINGS({"space", "order", "6"}, {"equation", "reaction", "1e-9"},
                         {"exact", "u", "1+x/2-y/4"}, {"boundary default", "type", "neumann"}));
  if (r.stop == KEDGE_STOP_ROUNDING)
    assert_int_equal(strncmp(r.solver_note, "converged to rounding: ", 23), 0);
  assert_non_null(strstr(r.solver_note, "rounding decides about the mean of u"));
}

/// The residual of Jacobi is small there long before u is right.
static void triangles_so_flat_that_residuals_say_little_are_said(void **state)
{
  (void)state;
  static const double stretches[] = {1e3, 1e6};
  for (int i = 0; i < 2; ++i) {
    kedge_mesh *mesh = test_stretched_mesh(ctx, 200, stretches[i]);
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", "2"}, {"equation", "source", "1"},
                 {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                 {"solver", "tolerance", "1e-6"}, {"solver", "preconditioner", "jacobi"}));
    double angle;
    const char *const note = strstr(r.solver_note, "the mesh has an angle of ");
    const int said = note ? sscanf(note, "the mesh has an angle of %lf degrees: with", &angle) : 0;
    assert_int_equal(said == 1, i == 1);
    if (said == 1) assert_true(angle < 1e-3 && angle > 0.0);
    kedge_mesh_destroy(mesh);
  }
}

static void a_right_hand_side_that_is_zero_is_said(void **state)
{
  (void)state;
#define NO_SQUARE                                                                                 \
  "the right-hand side is 0, or too small for its square to be more in double precision: u is 0 " \
  "but for boundary values"
  static const struct {
    const char *source, *value, *note;
  } cases[] = {{"0", "0", NO_SQUARE},
               {"0*x", "0*y", NO_SQUARE},
               {"1e-120", "0", ""},
               {"0", "1", ""},
               {"1", "0", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const kedge_report r = converged_on(
        ctx, "square 4",
        SETTINGS({"equation", "source", cases[i].source}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", cases[i].value}));
    assert_string_equal(r.solver_note, cases[i].note);
  }
  const kedge_report r = report_on(
      ctx, "square 4",
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}));
  assert_string_equal(r.solver_note,
                      "the right-hand side is 0: the problem has neither a source nor an exact "
                      "solution, and boundary values are 0, and so is u");
}

/// Where squares underflow, and far from it. Boundary values make a residual of their size, the
/// source one of h^2 its size.
static void a_right_hand_side_whose_residuals_have_no_squares_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *preconditioner, *source, *value;
    bool is_refused;
  } cases[] = {{"multigrid", "1e-150", "0", true},      {"jacobi", "1e-150", "0", true},
               {"multigrid", "1e-158", "0", true},      {"jacobi", "1e-148", "0", true},
               {"multigrid", "0", "x*1e-152", true},    {"jacobi", "0", "x*1e-152", true},
               {"multigrid", "1e-160", "0", true},      {"jacobi", "1e-200", "0", true},
               {"multigrid", "x*1e-200", "0", true},    {"jacobi", "y*1e-300", "0", true},
               {"multigrid", "0", "1e-200", true},      {"jacobi", "0", "x*1e-200", true},
               {"multigrid", "1e-134", "0", false},     {"jacobi", "1e-134", "0", false},
               {"multigrid", "0", "x*1e-136", false},   {"jacobi", "0", "x*1e-136", false},
               {"multigrid", "1e120", "x*1e120", false}};
  kedge_mesh *mesh = square_mesh(ctx, 8);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const setting *settings = SETTINGS(
        {"space", "order", "3"}, {"equation", "source", cases[i].source},
        {"boundary default", "type", "dirichlet"}, {"boundary default", "value", cases[i].value},
        {"solver", "preconditioner", cases[i].preconditioner});
    if (!cases[i].is_refused) {
      assert_true(report_of(ctx, mesh, settings).converged);
      continue;
    }
    kedge_problem *problem = problem_of(ctx, settings);
    assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC),
                           "that squares of its residual leave double precision: choose other "
                           "units for the source and boundary values"));
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

/// u is a polynomial of the order, so that its error is the solver's alone.
static kedge_report of_stabilization(const char *tau, const char *preconditioner,
                                     const char *tolerance)
{
  return report_on(
      ctx, "square 12",
      SETTINGS({"space", "order", "2"}, {"space", "stabilization", tau},
               {"exact", "u", "x-0.5*y+0.25+x*y-x*x"}, {"boundary default", "type", "dirichlet"},
               {"solver", "preconditioner", preconditioner}, {"solver", "tolerance", tolerance}));
}

static void a_residual_says_what_u_is_worth_whatever_the_stabilization(void **state)
{
  (void)state;
  static const char *const taus[] = {"1", "1e2", "1e4", "1e9", "1e15"};
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < PRECONDITIONERS; ++k) {
      const kedge_report r = of_stabilization(taus[i], preconditioners[k], "auto");
      assert_at_most(r.u_l2, r.relative_residual);
      assert_true(r.converged == (i < 4));
      const bool says =
          strstr(r.solver_note, "; rounding grows with the stabilization, some 8e+") &&
          strstr(r.solver_note, " times diffusion / h: choose one near diffusion / h");
      assert_true(says == (i >= 3));
    }
}

/// Where a smaller one would reach the tolerance, however little rounding there is.
static void a_stabilization_is_named_where_it_is_what_keeps_a_tolerance_from_reach(void **state)
{
  (void)state;
  for (int large = 0; large < 2; ++large) {
    const kedge_report r =
        of_stabilization(large ? "1e3" : "1", "multigrid", large ? "1e-14" : "1e-18");
    assert_false(r.converged);
    assert_true((strstr(r.solver_note, "; rounding grows with the stabilization") != NULL) ==
                large);
  }
}

/// Only boundary values have the stabilization in their residual.
static void a_source_alone_takes_the_same_tolerance_with_a_large_stabilization(void **state)
{
  (void)state;
  const kedge_report r =
      report_on(ctx, "square 12",
                SETTINGS({"space", "order", "2"}, {"space", "stabilization", "1e4"},
                         {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"},
                         {"boundary default", "value", "0"}));
  assert_true(r.start_residual == 1.0);
  assert_int_equal(r.stop, KEDGE_STOP_TOLERANCE);
}

/// Both tolerances take the same iterations to the same bits: only the judgement differs.
static void a_tolerance_that_rounding_forbids_is_not_convergence(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 24);
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    kedge_solution *found = solve(ctx, mesh, LARGE_SOLUTION(preconditioners[k], "auto", enough));
    kedge_solution *missed = solve(ctx, mesh, LARGE_SOLUTION(preconditioners[k], "1e-10", enough));
    kedge_report a = KEDGE_REPORT_INIT, b = KEDGE_REPORT_INIT;
    kedge_solution_report(found, &a);
    kedge_solution_report(missed, &b);
    assert_false(b.converged);
    assert_int_equal(b.stop, KEDGE_STOP_ROUNDING);
    assert_int_equal(b.iterations, a.iterations);
    assert_non_null(strstr(b.solver_note, "a tolerance of 1.0e-10 is not attainable"));
    fields of_found = fields_of(ctx, found), of_missed = fields_of(ctx, missed);
    assert_same_bits(&of_missed, &of_found);
    fields_free(&of_found);
    fields_free(&of_missed);
    kedge_solution_destroy(found);
    kedge_solution_destroy(missed);
  }
  kedge_mesh_destroy(mesh);
}

/// The first true residual says that rounding is the limit: as many iterations as its recurrence
/// takes, which a problem with less rounding takes too.
static void no_restart_is_spent_on_rounding(void **state)
{
  (void)state;
  const int64_t first = of_large_solution("multigrid", "1e-9", enough).iterations;
  const int64_t all = of_large_solution("multigrid", "1e-16", enough).iterations;
  const int64_t best = of_large_solution("multigrid", "auto", enough).iterations;
  assert_in_range(best, first, first + 3);
  assert_in_range(all, best, 2 * best);
}

static void what_rounding_allows_is_reached_by_restarts(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const kedge_report r = of_large_solution(preconditioners[k], "1e-9", enough);
    assert_true(r.converged && r.relative_residual <= 1e-9);
    assert_int_equal(r.stop, KEDGE_STOP_TOLERANCE);
  }
}

/// The report of a solve on an irregular mesh.
static kedge_report of_sine(const char *order, const char *preconditioner, const char *tolerance)
{
  kedge_mesh *mesh = test_irregular_mesh(ctx, 100);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"exact", "u", "sin(x)"},
               {"boundary default", "type", "dirichlet"},
               {"solver", "preconditioner", preconditioner}, {"solver", "tolerance", tolerance}));
  kedge_mesh_destroy(mesh);
  return r;
}

static void a_reachable_tolerance_measures_no_rounding(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const kedge_report r = of_sine("1", preconditioners[k], "auto");
    assert_true(r.converged && r.rounding_residual == 0.0);
    assert_int_equal(r.stop, KEDGE_STOP_TOLERANCE);
    assert_string_equal(r.solver_note, "");
  }
}

static void a_tolerance_beyond_rounding_is_reported_and_not_waited_for(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const kedge_report r = of_sine("4", preconditioners[k], "1e-18");
    assert_false(r.converged);
    assert_true(r.iterations < 5000 && r.relative_residual < 1e-12);
    assert_int_equal(r.stop, KEDGE_STOP_ROUNDING);
    const char *const advice = strstr(r.solver_note, "; ask for ");
    assert_non_null(strstr(r.solver_note, "a tolerance of 1.0e-18 is not attainable"));
    assert_true(advice && strstr(advice, ", or leave tolerance = auto"));
    const double attainable = strtod(advice + strlen("; ask for "), NULL);
    assert_true(attainable >= r.relative_residual && attainable <= 2.0 * r.relative_residual);
    assert_non_null(strstr(r.solver_note, "rounding keeps the true relative residual"));
  }
}

/// Neither where rounding is the limit already, nor an iteration before that.
static void a_solve_that_max_iterations_stops_is_never_called_converged(void **state)
{
  (void)state;
  for (int k = 0; k < PRECONDITIONERS; ++k) {
    const int64_t all = of_large_solution(preconditioners[k], "auto", enough).iterations;
    const int64_t limits[] = {1, all / 2, all - 1};
    for (int i = 0; i < 3; ++i) {
      char limit[24], note[64];
      snprintf(limit, sizeof limit, "%lld", (long long)limits[i]);
      snprintf(note, sizeof note, "stopped after max_iterations = %s with a", limit);
      const kedge_report r = of_large_solution(preconditioners[k], "auto", limit);
      assert_false(r.converged);
      assert_int_equal(r.stop, KEDGE_STOP_LIMIT);
      assert_int_equal(r.iterations, limits[i]);
      assert_non_null(strstr(r.solver_note, note));
    }
  }
}

/// On a mesh and to a tolerance at which the recurrence begins anew before that.
static kedge_report of_restarts(const char *precision, const char *tolerance, int64_t limit)
{
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)limit);
  return report_on(
      ctx, "square 24",
      SETTINGS({"space", "order", "3"}, {"equation", "source", "1"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"solver", "preconditioner", "multigrid"}, {"solver", "precision", precision},
               {"solver", "tolerance", tolerance}, {"solver", "max_iterations", text}));
}

/// Not by a recurrence that reaches its own target in the last of them, either. One that the limit
/// ends may have come below the tolerance without having reached that.
static void max_iterations_is_never_exceeded(void **state)
{
  (void)state;
  static const char *const cases[][2] = {{"compact", "1e-10"}, {"double", "1e-14"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int64_t all = of_restarts(cases[i][0], cases[i][1], 1000).iterations;
    assert_in_range(all, 5, 999);
    for (int64_t limit = 1; limit < all; ++limit) {
      const kedge_report r = of_restarts(cases[i][0], cases[i][1], limit);
      assert_int_equal(r.iterations, limit);
      assert_true(r.stop == KEDGE_STOP_LIMIT || limit == all - 1);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_tolerance_rounding_is_convergence),
      cmocka_unit_test(where_rounding_leaves_room_auto_goes_on_to_its_tolerance),
      cmocka_unit_test(rounding_of_the_size_of_the_residual_is_no_convergence),
      cmocka_unit_test(digits_of_the_mean_that_rounding_takes_are_said),
      cmocka_unit_test(a_mean_that_rounding_decides_about_is_said_beside_the_residual),
      cmocka_unit_test(triangles_so_flat_that_residuals_say_little_are_said),
      cmocka_unit_test(a_right_hand_side_that_is_zero_is_said),
      cmocka_unit_test(a_right_hand_side_whose_residuals_have_no_squares_is_refused),
      cmocka_unit_test(a_residual_says_what_u_is_worth_whatever_the_stabilization),
      cmocka_unit_test(a_stabilization_is_named_where_it_is_what_keeps_a_tolerance_from_reach),
      cmocka_unit_test(a_source_alone_takes_the_same_tolerance_with_a_large_stabilization),
      cmocka_unit_test(a_tolerance_that_rounding_forbids_is_not_convergence),
      cmocka_unit_test(no_restart_is_spent_on_rounding),
      cmocka_unit_test(what_rounding_allows_is_reached_by_restarts),
      cmocka_unit_test(a_reachable_tolerance_measures_no_rounding),
      cmocka_unit_test(a_tolerance_beyond_rounding_is_reported_and_not_waited_for),
      cmocka_unit_test(a_solve_that_max_iterations_stops_is_never_called_converged),
      cmocka_unit_test(max_iterations_is_never_exceeded),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// precision = mixed: multigrid in single precision, everything else in double precision; compact:
// K^e and the iteration in single precision, residuals in double precision. One file, because most
// of it holds both against the same solves in double precision.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "device/context.h"
#include "grid.h"
#include "ops/sample/points.h"
#include "repeat.h"
#include "elliptic/elliptic.h"
#include "support.h"

static const char *const precisions[] = {"mixed", "compact"};
enum { PRECISIONS = 2 };

/// Iterations are those of double precision, up to so many. Residuals made anew take directions
/// away.
static int64_t more_iterations(const char *precision)
{
  return strcmp(precision, "mixed") == 0 ? 2 : 5;
}

/// Mixed conditions, coefficients that are not 1.
#define MIXED(order_text, smoother_name, precision_name)                              \
  SETTINGS(MIXED_CONDITIONS(order_text), {"solver", "preconditioner", "multigrid"},   \
           {"solver", "smoother", smoother_name}, {"solver", "smoothing_steps", "2"}, \
           {"solver", "precision", precision_name})

static kedge_report converged_report(const kedge_solution *solution)
{
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_true(r.converged && r.relative_residual <= r.tolerance);
  return r;
}

static void check_solution(const kedge_mesh *mesh, const char *order, const char *smoother)
{
  kedge_solution *exact = solve(ctx, mesh, MIXED(order, smoother, "double"));
  const kedge_report a = converged_report(exact);
  fields of_exact = fields_of(ctx, exact);
  assert_int_equal(a.refinements, 0);
  for (int k = 0; k < PRECISIONS; ++k) {
    kedge_solution *other = solve(ctx, mesh, MIXED(order, smoother, precisions[k]));
    const kedge_report b = converged_report(other);
    const int64_t more = more_iterations(precisions[k]);
    assert_in_range(b.iterations + 2, a.iterations, a.iterations + 2 + more);
    assert_string_equal(b.precision, precisions[k]);
    assert_int_equal(b.refinements > 0, k == 1);
    fields of_other = fields_of(ctx, other);
    // Residuals of 1e-10 leave errors of that times the condition of the trace system, below 1000.
    assert_at_most(fields_distance(&of_other, &of_exact), 1000.0 * 1e-10);
    fields_free(&of_other);
    kedge_solution_destroy(other);
  }
  fields_free(&of_exact);
  kedge_solution_destroy(exact);
}

static void the_solution_is_that_of_double_precision(void **state)
{
  (void)state;
  const int sizes[] = {1, 2, 33, 400};
  static const char *const orders[] = {"1", "2", "4", "7"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    kedge_mesh *mesh = test_irregular_mesh(ctx, sizes[i]);
    for (int p = 0; p < 4; ++p) {
      check_solution(mesh, orders[p], "edge");
      check_solution(mesh, orders[p], "line");
    }
    kedge_mesh_destroy(mesh);
  }
}

static int64_t iterations(kedge_context *of, const char *generate, const char *order,
                          const char *reaction, const char *tau, const char *precision)
{
  return converged_on(of, generate,
                      SETTINGS({"space", "order", order}, {"boundary default", "type", "dirichlet"},
                               {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)+x"},
                               {"equation", "reaction", reaction}, {"space", "stabilization", tau},
                               {"solver", "preconditioner", "multigrid"},
                               {"solver", "precision", precision}, {"output", "fields", "cells"}))
      .iterations;
}

static void iterations_are_those_of_double_precision(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  static const char *const reactions[] = {"0", "1", "1e6"}, *const taus[] = {"1", "1*h", "1/h"};
  for (int p = 0; p < 9; ++p) {
    const char *reaction = reactions[p % 3], *tau = taus[p / 3];
    const int64_t a = iterations(ctx, "square 24", orders[p], reaction, tau, "double");
    for (int k = 0; k < PRECISIONS; ++k) {
      const int64_t b = iterations(ctx, "square 24", orders[p], reaction, tau, precisions[k]);
      assert_in_range(b + 2, a, a + 2 + more_iterations(precisions[k]));
    }
  }
}

static void the_host_needs_as_many_iterations(void **state)
{
  (void)state;
  kedge_context *host = open_backend(KEDGE_BACKEND_HOST, 2);
  static const char *const orders[] = {"1", "3", "6"};
  for (int k = 0; k < 3 * PRECISIONS; ++k) {
    const char *order = orders[k / PRECISIONS], *precision = precisions[k % PRECISIONS];
    const int64_t a = iterations(host, "lshape 20", order, "1", "1", precision);
    const int64_t b = iterations(ctx, "lshape 20", order, "1", "1", precision);
    assert_in_range(b + 1, a, a + 2);
  }
  kedge_context_destroy(host);
}

/// A large stabilization has the residual of boundary values held against b alone, which compact
/// makes again up to order 3.
static void residuals_are_relative_to_the_same(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "3", "4"};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 14", &mesh));
  for (int p = 0; p < 3; ++p) {
    double start[2];
    for (int k = 0; k < 2; ++k)
      start[k] =
          report_of(
              ctx, mesh,
              SETTINGS({"space", "order", orders[p]}, {"space", "stabilization", "1e3"},
                       {"boundary default", "type", "dirichlet"},
                       {"boundary left", "type", "neumann"}, {"exact", "u", "exp(x)*cos(3*y)"},
                       {"solver", "preconditioner", "multigrid"},
                       {"solver", "precision", k == 0 ? "double" : "compact"}))
              .start_residual;
    assert_true(start[0] > 2.0);
    assert_at_most(fabs(start[1] - start[0]), 1e-10 * start[0]);
  }
  kedge_mesh_destroy(mesh);
}

static void check_bits(const char *precision)
{
  assert_repeatable(ctx, MIXED("3", "edge", precision));
}

static void two_runs_and_other_numbers_of_threads_give_the_same_bits(void **state)
{
  (void)state;
  for (int k = 0; k < PRECISIONS; ++k) check_bits(precisions[k]);
}

/// A problem whose coefficients are a power of two times those of another, and its source another
/// power: the same bits all the way, but for the exponents.
static int64_t scaled(kedge_mesh *mesh, const char *diffusion, const char *tau, const char *source,
                      const char *precision)
{
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", "3"}, {"space", "stabilization", tau},
               {"equation", "diffusion", diffusion}, {"equation", "source", source},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"solver", "preconditioner", "multigrid"}, {"solver", "precision", precision}));
  assert_true(r.converged && r.relative_residual <= r.tolerance);
  return r.iterations;
}

static void numbers_beyond_single_precision_in_the_source_do_no_harm(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 400);
  for (int k = 0; k < PRECISIONS; ++k) {
    const char *precision = precisions[k];
    const int64_t expected = scaled(mesh, "1", "1", "x+y", precision);
    assert_int_equal(scaled(mesh, "1", "1", "2^200*(x+y)", precision), expected);
    const char *tiny = "9.313225746154785e-10";  // 2^-30
    assert_int_equal(scaled(mesh, "2^-30", tiny, "2^-240*(x+y)", precision), expected);
  }
  kedge_mesh_destroy(mesh);
}

/// The error of u where the solution is a polynomial, so that all of it is rounding.
static double floor_of(const kedge_mesh *mesh, const char *order, const char *precision)
{
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"exact", "u", "1+x^2-y"},
               {"boundary default", "type", "neumann"}, {"boundary left", "type", "dirichlet"},
               {"solver", "preconditioner", "multigrid"}, {"solver", "precision", precision},
               {"solver", "tolerance", "1e-13"}));
  assert_true(r.converged);
  return r.u_l2;
}

static void without_reaction_errors_end_where_those_of_double_precision_do(void **state)
{
  (void)state;
  static const char *const orders[] = {"2", "4", "7"};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 24", &mesh));
  for (int p = 0; p < 3; ++p) {
    assert_at_most(floor_of(mesh, orders[p], "double"), 1e-13);
    for (int k = 0; k < PRECISIONS; ++k)
      assert_at_most(floor_of(mesh, orders[p], precisions[k]), 1e-13);
  }
  kedge_mesh_destroy(mesh);
}

static void jacobi_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  for (int k = 0; k < PRECISIONS; ++k) {
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                 {"solver", "preconditioner", "jacobi"}, {"solver", "precision", precisions[k]}));
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "precision = %s needs preconditioner = multigrid: only that works in single "
             "precision; with preconditioner = jacobi leave precision = double",
             precisions[k]);
    assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), sentence);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void no_more_memory_is_taken_than_was_predicted(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "4", "6"}, *const smoothers[] = {"edge", "line"};
  for (int k = 0; k < 3 * PRECISIONS; ++k) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, "square 90", &mesh));
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", orders[k % 3]}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}, {"solver", "smoothing_steps", "2"},
                 {"solver", "preconditioner", "multigrid"},
                 {"solver", "smoother", smoothers[k % 2]},
                 {"solver", "precision", precisions[k / 3]}));
    const double inverse = 2 * 8.0 * 1024 * 1024;  // of the coarsest level, a bound
    assert_true(r.peak_device_bytes <= r.predicted_device_bytes);
    assert_true((double)r.peak_device_bytes >=
                0.9 * ((double)r.predicted_device_bytes - inverse) - 1e5);
    kedge_mesh_destroy(mesh);
  }
}

static kedge_problem *small_compact(const char *order, const char *reaction, const char *source)
{
  return problem_of(
      ctx, SETTINGS({"space", "order", order}, {"equation", "reaction", reaction},
                    {"equation", "source", source}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"},
                    {"solver", "precision", "compact"}, {"solver", "tolerance", "1e-12"}));
}

/// b is made again from the source there. Chunks end with one group, or are one, whose values of
/// the source are more than its reduced K^e at orders 1 and 2.
static void small_meshes_have_room_for_values_of_the_source(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "3"};
  static const int sizes[] = {1, 4, 12, 28};
  for (int k = 0; k < 4; ++k) {
    kedge_mesh *mesh = square_mesh(ctx, sizes[k]);
    for (int p = 0; p < 3; ++p) {
      kedge_problem *problem = small_compact(orders[p], "0", "exp(x)*sin(7*y)");
      kedge_plan plan = KEDGE_PLAN_INIT;
      must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
      kedge_solution *solution;
      must(ctx, kedge_solve(ctx, mesh, problem, &solution));
      const kedge_report r = converged_report(solution);
      assert_string_equal(r.precision, "compact");
      assert_int_equal(r.peak_device_bytes, r.predicted_device_bytes);
      must(ctx, kedge_problem_set(problem, "solver", "precision", "double"));
      kedge_solution *expected;
      must(ctx, kedge_solve(ctx, mesh, problem, &expected));
      fields a = fields_of(ctx, solution), b = fields_of(ctx, expected);
      // Residuals of 1e-12, times the condition of the trace system, which grows like 28^2 here.
      assert_at_most(fields_distance(&a, &b), 1e4 * 1e-12);
      fields_free(&a);
      fields_free(&b);
      kedge_solution_destroy(expected);
      kedge_solution_destroy(solution);
      kedge_problem_destroy(problem);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void less_room_than_for_a_group_is_refused(void **state)
{
  (void)state;
  if (ctx->backend == KEDGE_BACKEND_CUDA) skip();  // a compiled kernel needs no room
  kedge_mesh *mesh = square_mesh(ctx, 4);
  kedge_problem *problem = small_compact("1", "0", "x");
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  kedge_solution solution = {0};
  p.run.solution = &solution;
  must(ctx, kg_elliptic_prepare(&p));
  kg_source_open(&p.source, p.data.resolved, p.data.gives_source, p.data.origin);
  const size_t group = (size_t)kg_rule_points(1) * KG_LANES * sizeof(double);
  double values[1], load[1];  // not touched
  assert_int_equal(kg_source_loads(&p.source, 0, 0, 1, (kg_buffer){values, group - 1}, load),
                   KEDGE_ERR_INTERNAL);
  const char *const sentence =
      "load vectors: 4095 bytes for values of the source where a group needs 4096";
  assert_int_equal(strncmp(kedge_context_error(ctx), sentence, strlen(sentence)), 0);
  kg_elliptic_free(&p);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// Up to order 3 it is evaluated in the trace solve for the first time.
static void a_source_that_is_not_finite_is_refused_as_in_double_precision(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "3", "4"}, *const reactions[] = {"0", "1"};
  kedge_mesh *mesh = square_mesh(ctx, 12);
  const int64_t before = ctx->bytes_in_use;
  for (int k = 0; k < 8; ++k) {
    kedge_problem *problem = small_compact(orders[k / 2], reactions[k % 2], "sqrt(0.6-x)");
    char compact[512];
    snprintf(compact, sizeof compact, "%s", refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT));
    assert_int_equal(ctx->bytes_in_use, before);
    assert_int_equal(strncmp(compact, "source is nan at x = ", 21), 0);
    must(ctx, kedge_problem_set(problem, "solver", "precision", "double"));
    assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), compact);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

/// 16 x 16 rectangles in halves, so many times as long as high.
static kedge_mesh *needles(double stretch)
{
  enum { N = 16, ROW = N + 1 };
  double vertices[2 * ROW * ROW];
  int32_t triangles[3 * 2 * N * N];
  for (int v = 0; v < ROW * ROW; ++v) {
    vertices[2 * v] = (double)(v % ROW) / N;
    vertices[2 * v + 1] = (double)(v / ROW) / N / stretch;
  }
  for (int k = 0; k < 2 * N * N; ++k) {
    const int cell = k / 2, v = cell / N * ROW + cell % N;
    const int corner[] = {v, v + (k % 2 ? ROW + 1 : 1), v + (k % 2 ? ROW : ROW + 1)};
    for (int c = 0; c < 3; ++c) triangles[3 * k + c] = corner[c];
  }
  test_grid grid = {.n_vertices = ROW * ROW,
                    .n_triangles = 2 * N * N,
                    .vertices = vertices,
                    .triangles = triangles};
  return test_grid_mesh(&grid, ctx);
}

/// K^e in single precision are too far from A for refinement.
static void what_compact_cannot_reach_is_advised_in_double_precision(void **state)
{
  (void)state;
  static const char *const says[] = {
      "not attainable with precision = compact for this problem; take precision = double, or ask "
      "for ",
      "which is no solution; take precision = double"};
  for (int k = 0; k < 4; ++k) {
    kedge_mesh *mesh = needles(k / 2 ? 1e7 : 1e5);
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", k / 2 ? "4" : "1"}, {"equation", "source", "1"},
                 {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                 {"solver", "preconditioner", "multigrid"},
                 {"solver", "precision", k % 2 ? "double" : "compact"}));
    assert_int_equal(r.converged, k % 2);
    if (k % 2 == 0) assert_non_null(strstr(r.solver_note, says[k / 2]));
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_solution_is_that_of_double_precision),
      cmocka_unit_test(iterations_are_those_of_double_precision),
      cmocka_unit_test(the_host_needs_as_many_iterations),
      cmocka_unit_test(residuals_are_relative_to_the_same),
      cmocka_unit_test(two_runs_and_other_numbers_of_threads_give_the_same_bits),
      cmocka_unit_test(numbers_beyond_single_precision_in_the_source_do_no_harm),
      cmocka_unit_test(without_reaction_errors_end_where_those_of_double_precision_do),
      cmocka_unit_test(jacobi_is_refused),
      cmocka_unit_test(no_more_memory_is_taken_than_was_predicted),
      cmocka_unit_test(small_meshes_have_room_for_values_of_the_source),
      cmocka_unit_test(less_room_than_for_a_group_is_refused),
      cmocka_unit_test(a_source_that_is_not_finite_is_refused_as_in_double_precision),
      cmocka_unit_test(what_compact_cannot_reach_is_advised_in_double_precision),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

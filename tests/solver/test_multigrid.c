// Solves with the multigrid preconditioner through the public API.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "mesh/mesh.h"
#include "repeat.h"
#include "support.h"

#define MIXED(p, preconditioner_name, steps) MIXED_WITH("edge", p, preconditioner_name, steps)
#define MIXED_WITH(smoother_name, p, preconditioner_name, steps)                   \
  SETTINGS(MIXED_CONDITIONS(p), {"solver", "preconditioner", preconditioner_name}, \
           {"solver", "smoother", smoother_name}, {"solver", "smoothing_steps", steps})

static void the_solution_is_that_of_jacobi(void **state)
{
  (void)state;
  const int sizes[] = {1, 2, 33, 400};
  static const char *const orders[] = {"1", "2", "4", "7"}, *const steps[] = {"1", "2", "3"};
  static const char *const smoothers[] = {"edge", "line"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    kedge_mesh *mesh = test_irregular_mesh(ctx, sizes[i]);
    for (int k = 0; k < 8; ++k) {
      const int p = k / 2;
      kedge_solution *jacobi = solve(ctx, mesh, MIXED_WITH("auto", orders[p], "jacobi", "1"));
      kedge_solution *multigrid =
          solve(ctx, mesh, MIXED_WITH(smoothers[k % 2], orders[p], "multigrid", steps[p % 3]));
      kedge_report r = KEDGE_REPORT_INIT;
      kedge_solution_report(multigrid, &r);
      assert_true(r.converged);
      fields a = fields_of(ctx, jacobi), b = fields_of(ctx, multigrid);
      // Residuals of 1e-10 leave errors of that times the condition of the trace system, below
      // 1000.
      assert_at_most(fields_distance(&b, &a), 1000.0 * 1e-10);
      fields_free(&a);
      fields_free(&b);
      kedge_solution_destroy(jacobi);
      kedge_solution_destroy(multigrid);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void the_host_needs_as_many_iterations(void **state)
{
  (void)state;
  kedge_context *host = open_backend(KEDGE_BACKEND_HOST, 2), *device = ctx;
  static const char *const orders[] = {"1", "3", "6"};
  for (int p = 0; p < 3; ++p) {
    kedge_mesh *a = test_irregular_mesh(host, 1000), *b = test_irregular_mesh(device, 1000);
    const kedge_report of_host = report_of(host, a, MIXED(orders[p], "multigrid", "1"));
    const kedge_report of_device = report_of(device, b, MIXED(orders[p], "multigrid", "1"));
    assert_in_range(of_device.iterations + 1, of_host.iterations, of_host.iterations + 2);
    assert_int_equal(of_device.multigrid_levels, of_host.multigrid_levels);
    kedge_mesh_destroy(a);
    kedge_mesh_destroy(b);
  }
  kedge_context_destroy(host);
}

static void two_runs_and_other_numbers_of_threads_give_the_same_bits(void **state)
{
  (void)state;
  assert_repeatable(ctx, MIXED("3", "multigrid", "2"));
}

static void no_more_memory_is_taken_than_was_predicted(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 1", "square 90", "ring 30 100"};
  static const char *const orders[] = {"1", "4", "9"};
  for (int i = 0; i < 9; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, meshes[i / 3], &mesh));
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"space", "order", orders[i % 3]}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}, {"solver", "smoothing_steps", "2"},
                 {"solver", "max_iterations", "2"}, {"solver", "preconditioner", "multigrid"}));
    kedge_plan plan = KEDGE_PLAN_INIT;
    must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
    kedge_solution *solution;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    kedge_report r = KEDGE_REPORT_INIT;
    kedge_solution_report(solution, &r);
    assert_int_equal(r.predicted_device_bytes, plan.peak_bytes[KEDGE_OPERATOR_MATRIX_FREE]);
    assert_true(r.peak_device_bytes <= r.predicted_device_bytes);
    // The levels below the trace are bounded, not known: their last inverse has 1024 rows at most,
    // of which one triangle is kept.
    const double inverse = 8.0 * 1024 * 1025 / 2;
    assert_true((double)r.peak_device_bytes >=
                0.9 * ((double)r.predicted_device_bytes - inverse) - 1e5);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void other_operators_refuse_multigrid_and_blocks(void **state)
{
  (void)state;
  static const char *const operators[] = {"ell", "matrix-free-plain"};
  static const char *const names[] = {"multigrid", "block-jacobi"};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  for (int i = 0; i < 4; ++i) {
    const int k = i / 2;
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                 {"solver", "operator", operators[k]}, {"solver", "preconditioner", names[i % 2]}));
    char expected[200];
    snprintf(expected, sizeof expected,
             "preconditioner = %s needs operator = matrix-free: it is made from the packed "
             "local matrices, which operator = %s does not keep; change one of the two",
             names[i % 2], operators[k]);
    assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), expected);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void the_recurrence_ends_where_rounding_does(void **state)
{
  (void)state;
  static const char *const tolerances[] = {"1e-13", "1e-15", "1e-17"};
  kedge_mesh *mesh = square_mesh(ctx, 60);
  kedge_report r[3] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
  for (int k = 0; k < 3; ++k) {
    r[k] = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", "2"}, {"equation", "source", "1"},
                 {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                 {"solver", "preconditioner", "multigrid"},
                 {"solver", "tolerance", tolerances[k]}));
    assert_int_equal(r[k].stop, KEDGE_STOP_ROUNDING);
    assert_at_most(r[k].relative_residual, 16.0 * r[k].rounding_residual);
    assert_int_equal(r[k].iterations, r[0].iterations);
  }
  kedge_mesh_destroy(mesh);
}

static void twenty_times_as_many_triangles_take_one_iteration_more_at_most(void **state)
{
  (void)state;
  static const struct {
    const char *order, *reaction, *type, *value;
  } cases[] = {{"1", "0", "dirichlet", "0"},
               {"2", "0", "dirichlet", "0"},
               {"3", "0", "dirichlet", "0"},
               {"4", "0", "dirichlet", "0"},
               {"1", "0", "dirichlet", "sin(6*pi*x)*cos(4*pi*y)"},
               {"4", "0", "dirichlet", "sin(6*pi*x)*cos(4*pi*y)"},
               {"1", "1", "neumann", "sin(6*pi*x)*cos(4*pi*y)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const bool is_low = strcmp(cases[i].order, "1") == 0;
    kedge_mesh *small = square_mesh(ctx, is_low ? 71 : 40);
    kedge_mesh *large = square_mesh(ctx, is_low ? 317 : 179);
    const setting *settings =
        SETTINGS({"space", "order", cases[i].order}, {"equation", "reaction", cases[i].reaction},
                 {"equation", "source", "1"}, {"boundary default", "type", cases[i].type},
                 {"boundary default", "value", cases[i].value},
                 {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-10"});
    const kedge_report few = report_of(ctx, small, settings);
    const kedge_report many = report_of(ctx, large, settings);
    assert_true(few.converged && many.converged);
    assert_in_range(few.iterations, 1, 16);
    assert_in_range(many.iterations, 1, few.iterations + 1);
    kedge_mesh_destroy(small);
    kedge_mesh_destroy(large);
  }
}

/// A mesh that was refined, and the same without the levels of its refinement.
static void refined_meshes(const char *words, int times, kedge_mesh **refined, kedge_mesh **plain)
{
  kedge_mesh *base;
  kg_raw_mesh raw;
  if (strstr(words, ".msh"))
    must(ctx, kedge_mesh_read(ctx, words, &base));
  else
    must(ctx, kedge_mesh_generate(ctx, words, &base));
  must(ctx, kedge_mesh_refine(ctx, base, times, refined));
  must(ctx, kg_mesh_to_raw(ctx, *refined, &raw));
  must(ctx, kg_mesh_build(ctx, &raw, words, plain));
  kg_raw_mesh_free(&raw);
  kedge_mesh_destroy(base);
}

static void on_refined_meshes_coarser_meshes_take_as_few_iterations_as_aggregates(void **state)
{
  (void)state;
  static const struct {
    const char *mesh;
    int times;
    const char *order, *reaction, *precision, *group;  // that one is of Neumann
  } cases[] = {
      {"square 9", 3, "1", "0", "double", "nowhere"},
      {"square 9", 3, "3", "0", "mixed", "left"},
      {"square 9", 3, "1", "1", "double", "left"},
      {"square 9", 3, "2", "1e4", "double", "top"},
      {"square 9", 3, "1", "3e4", "double", "left"},
      {"square 9", 3, "1", "1e6", "double", "left"},
      {"square 45", 1, "1", "0", "double", "left"},
      {"square 9", 3, "2", "1", "compact", "left"},
      {"lshape 6", 3, "6", "0", "double", "nowhere"},
      {"lshape 6", 3, "6", "0", "compact", "nowhere"},
      {KEDGE_SOURCE_DIR "/meshes/plate.msh", 2, "1", "0", "double", "nowhere"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh[2];
    kedge_report r[2] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
    refined_meshes(cases[i].mesh, cases[i].times, &mesh[0], &mesh[1]);
    for (int k = 0; k < 2; ++k) {
      const bool has_neumann = strcmp(cases[i].group, "nowhere") != 0;
      char section[32];
      snprintf(section, sizeof section, "boundary %s", has_neumann ? cases[i].group : "default");
      r[k] = report_of(
          ctx, mesh[k],
          SETTINGS({"space", "order", cases[i].order}, {"equation", "reaction", cases[i].reaction},
                   {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "x"},
                   {section, "type", has_neumann ? "neumann" : "dirichlet"},
                   {section, "value", has_neumann ? "0" : "x"},
                   {"solver", "precision", cases[i].precision},
                   {"solver", "preconditioner", "multigrid"}));
      assert_true(r[k].converged);
      assert_true(r[k].peak_device_bytes <= r[k].predicted_device_bytes);
    }
    assert_in_range(r[0].iterations, 1, r[1].iterations + 1);
    assert_true(r[0].relative_residual != r[1].relative_residual);  // there are such levels
    kedge_mesh_destroy(mesh[0]);
    kedge_mesh_destroy(mesh[1]);
  }
}

static void stretched_elements_keep_aggregates(void **state)
{
  (void)state;
  kedge_mesh *mesh[2];
  kedge_report r[2] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
  refined_meshes("ring 10 24", 2, &mesh[0], &mesh[1]);
  for (int k = 0; k < 2; ++k) {
    r[k] = report_of(
        ctx, mesh[k],
        SETTINGS({"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"}));
    kedge_mesh_destroy(mesh[k]);
  }
  assert_int_equal(r[0].iterations, r[1].iterations);
  assert_true(r[0].relative_residual == r[1].relative_residual);
}

/// Two triangles, every vertex on a Dirichlet edge: no coarse space; one triangle: no unknowns.
static void meshes_without_free_vertices_are_solved_too(void **state)
{
  (void)state;
  for (int n = 1; n <= 2; ++n) {
    kedge_mesh *mesh = test_irregular_mesh(ctx, n);
    const kedge_report r =
        report_of(ctx, mesh,
                  SETTINGS({"space", "order", "3"}, {"boundary 7", "type", "dirichlet"},
                           {"boundary default", "type", "dirichlet"}, {"exact", "u", "x^2*y-y^3"},
                           {"solver", "preconditioner", "multigrid"}));
    assert_true(r.converged);
    assert_int_equal(r.multigrid_levels, 1);
    assert_at_most(r.u_l2, 1e-10);
    kedge_mesh_destroy(mesh);
  }
}

static void auto_takes_multigrid_but_for_small_problems_of_no_thin_triangles(void **state)
{
  (void)state;
  static const struct {
    const char *mesh, *order, *operator_name, *precision, *on_host, *on_gpu;
  } cases[] = {
      {"square 5", "3", "matrix-free", "double", "jacobi", "jacobi"},
      {"square 6", "3", "matrix-free", "double", "multigrid", "jacobi"},
      {"square 31", "8", "matrix-free", "double", "multigrid", "jacobi"},
      {"square 34", "8", "matrix-free", "double", "multigrid", "multigrid"},
      {"square 94", "1", "matrix-free", "double", "multigrid", "jacobi"},
      {"square 95", "1", "matrix-free", "double", "multigrid", "multigrid"},
      {"ring 10 3", "4", "matrix-free", "double", "jacobi", "jacobi"},
      {"ring 50 8", "4", "matrix-free", "double", "multigrid", "jacobi"},
      {"ring 100 9", "4", "matrix-free", "double", "multigrid", "multigrid"},
      {"square 3", "2", "matrix-free", "mixed", "multigrid", "multigrid"},
      {"square 25", "3", "matrix-free-plain", "double", "jacobi", "jacobi"},
      {"square 25", "3", "ell", "double", "jacobi", "jacobi"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, cases[i].mesh, &mesh));
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", cases[i].order}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}, {"solver", "tolerance", "1e-6"},
                 {"solver", "operator", cases[i].operator_name},
                 {"solver", "precision", cases[i].precision}));
    const bool gpu = test_backend() == KEDGE_BACKEND_CUDA;
    assert_string_equal(r.preconditioner, gpu ? cases[i].on_gpu : cases[i].on_host);
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_solution_is_that_of_jacobi),
      cmocka_unit_test(the_host_needs_as_many_iterations),
      cmocka_unit_test(two_runs_and_other_numbers_of_threads_give_the_same_bits),
      cmocka_unit_test(no_more_memory_is_taken_than_was_predicted),
      cmocka_unit_test(other_operators_refuse_multigrid_and_blocks),
      cmocka_unit_test(the_recurrence_ends_where_rounding_does),
      cmocka_unit_test(twenty_times_as_many_triangles_take_one_iteration_more_at_most),
      cmocka_unit_test(on_refined_meshes_coarser_meshes_take_as_few_iterations_as_aggregates),
      cmocka_unit_test(stretched_elements_keep_aggregates),
      cmocka_unit_test(meshes_without_free_vertices_are_solved_too),
      cmocka_unit_test(auto_takes_multigrid_but_for_small_problems_of_no_thin_triangles),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

// Predictions of memory against the limit that they set, and against each other.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/stages.h"
#include "memory_case.h"
#include "support.h"

static int64_t limit, prepared;

/// A machine with `limit` bytes, of which mesh and numbering take some.
static int64_t limited(kedge_context *context)
{
  return context->backend == KEDGE_BACKEND_CUDA ? limit : limit - prepared;
}

static const kg_backend_table *unlimited;
static kg_backend_table small;

/// Until release_limit(), the context has so many bytes, for this mesh and problem.
static void set_limit(int64_t bytes, const kedge_mesh *mesh, const kedge_problem *problem)
{
  const kg_shape shape = shape_of(ctx, mesh, problem);
  unlimited = ctx->table;
  small = *unlimited;
  small.free_bytes = limited;
  limit = bytes;
  prepared = kg_prepared_bytes(&shape);
  ctx->table = &small;
}

static void release_limit(void)
{
  ctx->table = unlimited;
}

static kedge_plan plan_within(int64_t bytes, const kedge_mesh *mesh, const kedge_problem *problem)
{
  kedge_plan plan = KEDGE_PLAN_INIT;
  set_limit(bytes, mesh, problem);
  const kedge_status status = kedge_plan_make(ctx, mesh, problem, &plan);
  release_limit();
  must(ctx, status);
  return plan;
}

static kedge_status solve_within(int64_t bytes, const kedge_mesh *mesh,
                                 const kedge_problem *problem, kedge_solution **solution)
{
  set_limit(bytes, mesh, problem);
  const kedge_status status = kedge_solve(ctx, mesh, problem, solution);
  release_limit();
  return status;
}

/// Bytes in which a solve finds everything, with the mesh.
static int64_t everything(const kg_shape *shape)
{
  const kg_memory need = kg_memory_needed(ctx, shape, kg_peak_bytes(shape));
  return need.device > 0 ? need.device : need.host + kg_prepared_bytes(shape);
}

/// The least that a solve needs: with load vectors that stay, or are made again.
static int64_t least(const kg_shape *shape)
{
  kg_shape kept = *shape, again = *shape;
  kept.choice.loads_stay = kept.choice.iterates == KG_DOUBLE;
  again.choice.loads_stay = false;
  const int64_t a = everything(&kept), b = everything(&again);
  return a < b ? a : b;
}

static void a_solve_that_fits_exactly_is_done_and_one_byte_less_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 60);
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op) {
    kedge_problem *problem = dirichlet(ctx, "2", kedge_operator_name((kedge_operator)op));
    const kg_shape shape = shape_of(ctx, mesh, problem);
    for (int below = 0; below < 2; ++below) {
      const int64_t bytes = least(&shape) - below;
      kedge_solution *solution;
      assert_int_equal(plan_within(bytes, mesh, problem).fits[op], !below);
      assert_int_equal(solve_within(bytes, mesh, problem, &solution),
                       below ? KEDGE_ERR_MEMORY : KEDGE_OK);
      kedge_solution_destroy(solution);
    }
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static int64_t points_asked;

static void be_smooth(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = sin(points->x[i] + 3.0 * points->y[i]);
#pragma omp atomic
  points_asked += (int64_t)points->n;
}

static void load_vectors_without_room_are_made_again_to_the_same_bits(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 150);
  kedge_problem *problem = problem_of(
      ctx,
      SETTINGS({"space", "order", "4"}, {"boundary default", "type", "dirichlet"},
               {"boundary default", "value", "x"}, {"solver", "max_iterations", "2"},
               {"equation", "reaction", "1"},  // else the trace solve is not where most is held
               {"solver", "preconditioner", "jacobi"}));
  must(ctx, kedge_problem_set_source(problem, be_smooth, NULL));
  kg_shape shape = shape_of(ctx, mesh, problem);
  const int64_t enough = everything(&shape);
  shape.choice.loads_stay = false;
  const int64_t little = everything(&shape);
  assert_true(little < enough);
  assert_true(shape.count.n_groups > shape.choice.recover_groups);
  kedge_solution *kept, *again;
  kedge_report report = KEDGE_REPORT_INIT;
  points_asked = 0;
  must(ctx, solve_within(enough, mesh, problem, &kept));
  const int64_t once = points_asked;
  must(ctx, solve_within(little, mesh, problem, &again));
  assert_int_equal(points_asked, 3 * once);
  kedge_solution_report(again, &report);
  assert_int_equal(report.predicted_device_bytes, kg_peak_bytes(&shape));
  assert_int_equal(report.peak_device_bytes, kg_peak_bytes(&shape));
  fields a = fields_of(ctx, kept), b = fields_of(ctx, again);
  assert_same_bits(&a, &b);
  fields_free(&a);
  fields_free(&b);
  kedge_solution_destroy(kept);
  kedge_solution_destroy(again);
  assert_int_equal(solve_within(little - 1000, mesh, problem, &again), KEDGE_ERR_MEMORY);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// An H200 has 149.5e9 bytes for us; a fifth of the host's memory holds results that are means. On
/// finer meshes the boundary, and what has one size, are less of it than on the one here.
static void a_hundred_million_triangles_of_order_4_fit_an_h200_but_not_as_ell(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 400);
  kedge_problem *problem = dirichlet(ctx, "4", "matrix-free");
  must(ctx, kedge_problem_set(problem, "output", "fields", "cells"));
  kg_shape shape = shape_of(ctx, mesh, problem);
  shape.choice.loads_stay = false;
  const double times = 1e8 / shape.count.n_elements;
  assert_at_most(times * (double)kg_peak_bytes(&shape), 149.5e9);
  shape.choice.recover_groups = 0;  // chunks take 2 GiB at most, whatever the mesh
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    assert_at_most(times * (double)(kg_prepared_bytes(&shape) + kg_host_stage_bytes(stage, &shape)),
                   0.2 * 128 * (1 << 30) - 2.0 * (1 << 30));
  must(ctx, kedge_problem_set(problem, "solver", "operator", "ell"));
  shape = shape_of(ctx, mesh, problem);
  shape.choice.loads_stay = false;
  assert_true(times * (double)kg_peak_bytes(&shape) > 149.5e9);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// Expect these words in the refusal of a solve with one byte too little.
static void expect_remedy(const kedge_mesh *mesh, const kedge_problem *problem, const char *remedy)
{
  const kg_shape shape = shape_of(ctx, mesh, problem);
  kedge_solution *solution;
  assert_int_equal(solve_within(least(&shape) - 1, mesh, problem, &solution), KEDGE_ERR_MEMORY);
  assert_non_null(strstr(kedge_context_error(ctx), remedy));
}

static void a_refusal_names_one_setting_to_change_first(void **state)
{
  (void)state;
  static const struct {
    const char *operator_name, *preconditioner, *precision, *remedy;
  } cases[] = {
      {"matrix-free", "multigrid", "double", "take precision = compact, fewer elements or a lower"},
      {"matrix-free", "multigrid", "mixed", "take precision = compact, fewer elements or a lower"},
      {"matrix-free", "multigrid", "compact", "and take fewer elements or a lower order"},
      {"matrix-free", "block-jacobi", "double", "and take fewer elements or a lower order"},
      {"matrix-free", "jacobi", "double", "and take fewer elements or a lower order"},
      {"ell", "auto", "double", "take operator = matrix-free, fewer elements or a lower order"},
      {"matrix-free-plain", "jacobi", "double", "take operator = matrix-free, fewer elements"}};
  kedge_mesh *mesh = square_mesh(ctx, 60);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *problem = dirichlet(ctx, "2", cases[i].operator_name);
    must(ctx, kedge_problem_set(problem, "solver", "preconditioner", cases[i].preconditioner));
    must(ctx, kedge_problem_set(problem, "solver", "precision", cases[i].precision));
    expect_remedy(mesh, problem, cases[i].remedy);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void compact_precision_is_not_advised_where_it_is_refused(void **state)
{
  (void)state;
  static const char *const precisions[] = {"double", "mixed"};
  for (int i = 0; i < 4; ++i) {
    const bool in_space = i < 2;
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, in_space ? "cube 6" : "square 60", &mesh));
    kedge_problem *problem = dirichlet(ctx, "2", "matrix-free");
    must(ctx, kedge_problem_set(problem, "solver", "preconditioner", "multigrid"));
    if (!in_space) {
      must(ctx, kedge_problem_set(problem, "boundary default", "type", "robin"));
      must(ctx, kedge_problem_set(problem, "boundary default", "coefficient", "1"));
    }
    must(ctx, kedge_problem_set(problem, "solver", "precision", precisions[i % 2]));
    expect_remedy(mesh, problem, "and take fewer elements or a lower order");
    must(ctx, kedge_problem_set(problem, "solver", "precision", "compact"));
    kedge_solution *solution;
    assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), KEDGE_ERR_INPUT);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

/// Lines of edges, which the assembled solve has not, are counted.
static void what_a_plan_of_ell_says_of_matrix_free_is_what_a_plan_of_that_says(void **state)
{
  (void)state;
  static const char *const words[] = {"square 60", "ring 400 25"};
  static const char *const orders[] = {"1", "4", "9"};
  for (int i = 0; i < 6; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words[i / 3], &mesh));
    kedge_problem *problem = dirichlet(ctx, orders[i % 3], "matrix-free");
    must(ctx, kedge_problem_set(problem, "solver", "preconditioner", "auto"));
    const kg_shape shape = shape_of(ctx, mesh, problem);
    assert_int_equal(shape.n_lines > 0, i >= 3);
    const int64_t need = least(&shape);
    const kedge_plan of_it = plan_within(2 * need, mesh, problem);
    must(ctx, kedge_problem_set(problem, "solver", "operator", "ell"));
    for (int below = 0; below < 2; ++below)
      assert_int_equal(plan_within(need - below, mesh, problem).fits[KEDGE_OPERATOR_MATRIX_FREE],
                       !below);
    const kedge_plan plan = plan_within(2 * need, mesh, problem);
    for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
      assert_int_equal(plan.stage_bytes[KEDGE_OPERATOR_MATRIX_FREE][stage],
                       of_it.stage_bytes[KEDGE_OPERATOR_MATRIX_FREE][stage]);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void a_plan_says_what_is_compared_with_free_memory(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 40);
  kedge_problem *problem = dirichlet(ctx, "3", "matrix-free");
  const kg_shape shape = shape_of(ctx, mesh, problem);
  const kg_memory need = kg_memory_needed(ctx, &shape, kg_peak_bytes(&shape));
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
  const bool separate = ctx->backend == KEDGE_BACKEND_CUDA;
  assert_int_equal(plan.needed_bytes[KEDGE_OPERATOR_MATRIX_FREE],
                   separate ? need.device : need.host);
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op) {
    assert_int_equal(plan.needed_bytes[op] > plan.peak_bytes[op], !separate);
    assert_true(plan.fits[op]);
    assert_true(plan.needed_bytes[op] <= plan.free_bytes);
  }
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// With precision = compact the source is sampled again after the trace solve, whatever memory is
/// free, beside the exact solution.
static void a_plan_says_what_the_host_holds_in_the_solve(void **state)
{
  (void)state;
  const char *const precisions[] = {"double", "mixed", "compact"};
  kedge_mesh *mesh = square_mesh(ctx, 40);
  for (int i = 0; i < 3; ++i) {
    kedge_problem *problem = dirichlet(ctx, "4", "matrix-free");
    must(ctx, kedge_problem_set(problem, "solver", "preconditioner", "multigrid"));
    must(ctx, kedge_problem_set(problem, "solver", "precision", precisions[i]));
    kg_shape shape = shape_of(ctx, mesh, problem);
    kg_plan placed;
    kg_arrays arrays;
    kg_memory_choose(ctx, &shape, kg_memory_free(ctx), &placed, &arrays);
    assert_int_equal(shape.choice.loads_stay, i < 2);
    kedge_plan plan = KEDGE_PLAN_INIT;
    must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
    assert_int_equal(plan.host_bytes, kg_prepared_bytes(&shape) + kg_host_bytes(&shape));
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void results_that_the_host_cannot_hold_are_refused(void **state)
{
  (void)state;
  kedge_problem *problem = dirichlet(ctx, "2", "matrix-free");
  kedge_mesh *mesh = square_mesh(ctx, 40);
  const kg_shape shape = shape_of(ctx, mesh, problem);
  const kedge_backend backend = ctx->backend;
  ctx->backend = KEDGE_BACKEND_CUDA;  // memory of its own; nothing runs
  const kg_memory need = kg_memory_needed(ctx, &shape, kg_peak_bytes(&shape));
  const kedge_status enough = kg_memory_check(ctx, &shape, need, need);
  const kedge_status status =
      kg_memory_check(ctx, &shape, need, (kg_memory){need.device, need.host - 1});
  ctx->backend = backend;
  assert_int_equal(enough, KEDGE_OK);
  assert_int_equal(status, KEDGE_ERR_MEMORY);
  assert_int_equal(need.device, kg_peak_bytes(&shape));
  assert_non_null(strstr(kedge_context_error(ctx),
                         " GB of memory on the host, for its results, (3200 elements, order 2, "
                         "operator matrix-free) and 0.00 GB are free"));
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

/// The most that is held on the device in these phases, with chunks of so many groups.
static size_t held_on_device(kg_shape shape, unsigned phases, int32_t groups)
{
  kg_plan plan;
  kg_arrays arrays;
  shape.choice.recover_groups = groups;
  shape.choice.loads_stay = false;
  kg_memory_plan(&shape, &plan, &arrays);
  return kg_plan_live_bytes(&plan, phases);
}

/// Coefficients that vary, and load vectors, are made by chunk too, in other stages.
static void larger_chunks_of_a_device_hold_no_more_in_any_stage(void **state)
{
  (void)state;
  static const char *const diffusion[] = {"1", "1 + x^2"}, *const orders[] = {"1", "4", "8"};
  for (int k = 0; k < 6; ++k) {
    kedge_mesh *mesh = square_mesh(ctx, 150);
    kedge_problem *problem = dirichlet(ctx, orders[k / 2], "matrix-free");
    must(ctx, kedge_problem_set(problem, "equation", "diffusion", diffusion[k % 2]));
    kg_shape shape = shape_of(ctx, mesh, problem);
    for (int repeats = 0; repeats < 2; ++repeats) {
      shape.choice.repeats = repeats;
      const int32_t both = kg_chunk_groups(&shape, false), more = kg_chunk_groups(&shape, true);
      assert_true(held_on_device(shape, ~0u, more) <= held_on_device(shape, ~0u, both));
    }
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void chunks_of_small_meshes_fill_what_the_trace_solve_had_on_a_device(void **state)
{
  (void)state;
  for (int n = 20; n <= 320; n *= 2) {
    kedge_mesh *mesh = square_mesh(ctx, n);
    kedge_problem *problem = dirichlet(ctx, "2", "matrix-free");
    const kg_shape shape = shape_of(ctx, mesh, problem);
    const int32_t both = kg_chunk_groups(&shape, false), more = kg_chunk_groups(&shape, true);
    if (n <= 40)
      assert_true(both < more && more <= shape.count.n_groups);
    else if (n == 320)
      assert_int_equal(both, more);
    assert_true(more == both || held_on_device(shape, KG_IN(RECOVER), more) <=
                                    held_on_device(shape, KG_IN_SOLVE, more));
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_solve_that_fits_exactly_is_done_and_one_byte_less_is_refused),
      cmocka_unit_test(load_vectors_without_room_are_made_again_to_the_same_bits),
      cmocka_unit_test(larger_chunks_of_a_device_hold_no_more_in_any_stage),
      cmocka_unit_test(chunks_of_small_meshes_fill_what_the_trace_solve_had_on_a_device),
      cmocka_unit_test(a_hundred_million_triangles_of_order_4_fit_an_h200_but_not_as_ell),
      cmocka_unit_test(a_refusal_names_one_setting_to_change_first),
      cmocka_unit_test(compact_precision_is_not_advised_where_it_is_refused),
      cmocka_unit_test(what_a_plan_of_ell_says_of_matrix_free_is_what_a_plan_of_that_says),
      cmocka_unit_test(a_plan_says_what_is_compared_with_free_memory),
      cmocka_unit_test(a_plan_says_what_the_host_holds_in_the_solve),
      cmocka_unit_test(results_that_the_host_cannot_hold_are_refused),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

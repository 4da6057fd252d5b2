// One set-up, many solves: results of kedge_solve(), to the bit, in memory that stays.
#include <malloc.h>

#include "backend.h"
#include "device/context.h"
#include "support.h"

enum { DATA = 3 };

/// A problem that many solves share, and the mesh it is on.
typedef struct sample {
  const char *generate;
  setting settings[12];
} sample;

#define TOP_NEUMANN                                                                  \
  {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x - y"}, \
      {"boundary top", "type", "neumann"},                                           \
  {                                                                                  \
    "boundary top", "value", "x"                                                     \
  }

static const sample samples[] = {
    {"square 9", {{"space", "order", "1"}, TOP_NEUMANN}},
    {"square 9", {{"space", "order", "4"}, TOP_NEUMANN, {"solver", "preconditioner", "jacobi"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"equation", "reaction", "2"}}},
    {"square 9",
     {{"space", "order", "5"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "smoothing_steps", "2"}}},
    {"square 9",
     {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "preconditioner", "block-jacobi"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {"square 9",
     {{"space", "order", "2"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9",
     {{"space", "order", "4"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9", {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "operator", "ell"}}},
    {"square 9",
     {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "operator", "matrix-free-plain"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"equation", "diffusion", "1 + x*y"},
      {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "2"},
      TOP_NEUMANN,
      {"equation", "diffusion", "2, 0.5, 1"},
      {"equation", "reaction", "1 + x"},
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"quads 9", {{"space", "order", "2"}, TOP_NEUMANN}},
    {"mixed 9", {{"space", "order", "3"}, TOP_NEUMANN, {"solver", "precision", "mixed"}}},
    {"mixed 9",
     {{"space", "order", "4"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9",
     {{"space", "order", "2"},
      {"boundary default", "type", "robin"},
      {"boundary default", "coefficient", "1 + x"},
      {"boundary default", "value", "x - y"},
      {"boundary top", "type", "neumann"},
      {"boundary top", "value", "x"}}},
    {"square 9",
     {{"space", "order", "3"},
      {"exact", "u", "sin(x)*y"},
      {"boundary default", "type", "dirichlet"},
      {"boundary top", "type", "neumann"}}},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/// Source and value on the top, which differ from solve to solve.
static const char *const sources[DATA] = {"1", "exp(x)*y", "0"};
static const char *const tops[DATA] = {"x", "0", "cos(3*x)"};

static kedge_problem *problem_with(kedge_context *ctx, const sample *s, int k)
{
  kedge_problem *problem = problem_of(ctx, s->settings);
  must(ctx, kedge_problem_set(problem, "equation", "source", sources[k]));
  must(ctx, kedge_problem_set(problem, "boundary top", "value", tops[k]));
  return problem;
}

static kedge_solution *solve_fresh(kedge_context *ctx, const kedge_mesh *mesh, const sample *s,
                                   int k)
{
  kedge_problem *problem = problem_with(ctx, s, k);
  kedge_solution *solution = NULL;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_problem_destroy(problem);
  return solution;
}

static void solve_again(kedge_context *ctx, kedge_solver *solver, int k, kedge_solution **solution)
{
  const kedge_boundary_value top = {.group = "top", .text = tops[k]};
  kedge_data data = KEDGE_DATA_INIT;
  data.source = sources[k];
  data.n_values = 1;
  data.values = &top;
  must(ctx, kedge_solver_solve(solver, &data, solution));
}

static void assert_same_solve(kedge_context *ctx, const kedge_solution *a, const kedge_solution *b)
{
  kedge_report of_a = KEDGE_REPORT_INIT, of_b = KEDGE_REPORT_INIT;
  kedge_solution_report(a, &of_a);
  kedge_solution_report(b, &of_b);
  assert_int_equal(of_a.iterations, of_b.iterations);
  assert_int_equal(of_a.refinements, of_b.refinements);
  assert_true(of_a.relative_residual == of_b.relative_residual);
  assert_int_equal(of_a.multigrid_levels, of_b.multigrid_levels);
  assert_string_equal(of_a.solver_note, of_b.solver_note);
  assert_string_equal(of_a.evaluation, of_b.evaluation);
  assert_true(of_a.u_l2 == of_b.u_l2 || of_a.u_l2 != of_a.u_l2);
  fields f = fields_of(ctx, a), g = fields_of(ctx, b);
  assert_same_bits(&f, &g);
  fields_free(&f);
  fields_free(&g);
}

/// A problem, its mesh and a solver of both.
typedef struct bench {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_solver *solver;
} bench;

static bench bench_of(const sample *s)
{
  bench b = {.ctx = open_backend(test_backend(), 2)};
  must(b.ctx, kedge_mesh_generate(b.ctx, s->generate, &b.mesh));
  b.problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  return b;
}

static void bench_free(bench *b)
{
  kedge_solver_destroy(b->solver);
  kedge_problem_destroy(b->problem);
  kedge_mesh_destroy(b->mesh);
  kedge_context_destroy(b->ctx);
}

static void solves_of_one_solver_are_those_of_fresh_ones(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh[DATA], *again = NULL;
    for (int k = 0; k < DATA; ++k) fresh[k] = solve_fresh(b.ctx, b.mesh, &samples[i], k);
    for (int k = 0; k < 2 * DATA; ++k) {
      solve_again(b.ctx, b.solver, k % DATA, &again);
      assert_same_solve(b.ctx, again, fresh[k % DATA]);
    }
    for (int k = 0; k < DATA; ++k) kedge_solution_destroy(fresh[k]);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static int64_t heap(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

/// Texts of the data take memory that differs: the same ones are compared. A block may get a few
/// bytes more than it asked for; a block that every solve leaves is 32 bytes at least each time.
static void a_hundred_solves_take_no_more_memory_than_a_few(void **state)
{
  (void)state;
  enum { SOLVES = 100 };
  for (int i = 0; i < SAMPLES; i += 3) {
    bench b = bench_of(&samples[i]);
    const int64_t set_up = b.ctx->bytes_in_use;
    int64_t early = 0;
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], (SOLVES - 1) % DATA);
    kedge_solution *again = NULL;
    for (int k = 0; k < SOLVES; ++k) {
      solve_again(b.ctx, b.solver, k % DATA, &again);
      assert_int_equal(b.ctx->bytes_in_use, set_up);
      assert_int_equal(b.ctx->bytes_peak, set_up);
      if (k == DATA) early = heap();
    }
    const bool has_driver = kedge_context_backend(b.ctx) == KEDGE_BACKEND_CUDA;  // and its heap
    assert_true(has_driver || heap() - early < 32 * SOLVES / 2);
    assert_same_solve(b.ctx, again, fresh);
    kedge_solution_destroy(fresh);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static void batches_of_one_shape_are_solved_again_too(void **state)
{
  (void)state;
  static const int32_t cuts[] = {70, 100};
  bench b = {.ctx = open_backend(test_backend(), 2)};
  const sample *s = &samples[5];
  b.ctx->n_cuts = 2;
  b.ctx->cuts = cuts;
  must(b.ctx, kedge_mesh_generate(b.ctx, s->generate, &b.mesh));
  b.problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  kedge_solution *again = NULL;
  for (int k = 0; k < DATA; ++k) {
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, s, k);
    solve_again(b.ctx, b.solver, k, &again);
    assert_same_solve(b.ctx, again, fresh);
    kedge_solution_destroy(fresh);
  }
  kedge_solution_destroy(again);
  bench_free(&b);
}

static void times(void *user, const kedge_points *points, double *value)
{
  const double *factor = user;
  for (size_t i = 0; i < points->n; ++i) value[i] = *factor * points->x[i];
}

static void data_may_be_functions_of_the_caller(void **state)
{
  (void)state;
  const sample *s = &samples[2];
  bench b = bench_of(s);
  double two = 2.0, three = 3.0;
  kedge_problem *problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_problem_set_source(problem, times, &two));
  must(b.ctx, kedge_problem_set_boundary(problem, "top", KEDGE_BOUNDARY_NEUMANN, times, &three));
  kedge_solution *fresh = NULL, *again = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, problem, &fresh));
  const kedge_boundary_value top = {.group = "top", .function = times, .user = &three};
  kedge_data data = KEDGE_DATA_INIT;
  data.source_function = times;
  data.source_user = &two;
  data.n_values = 1;
  data.values = &top;
  must(b.ctx, kedge_solver_solve(b.solver, &data, &again));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  kedge_problem_destroy(problem);
  bench_free(&b);
}

/// A solution outlives its solver, and without data the problem's are taken.
static void the_data_of_the_problem_are_taken_where_none_are_given(void **state)
{
  (void)state;
  const sample *s = &samples[10];
  bench b = bench_of(s);
  kedge_solution *other = NULL, *again = NULL, *fresh = NULL;
  solve_again(b.ctx, b.solver, 1, &other);
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
  kedge_solver_destroy(b.solver);
  b.solver = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(other);
  kedge_solution_destroy(again);
  kedge_solution_destroy(fresh);
  bench_free(&b);
}

/// A solve that must fail, with words of the sentence.
static void refuse(const bench *b, const kedge_data *data, kedge_status status, const char *words)
{
  kedge_solution *solution = NULL;
  assert_int_equal(kedge_solver_solve(b->solver, data, &solution), status);
  assert_null(solution);
  if (!strstr(kedge_context_error(b->ctx), words))
    fail_msg("'%s' is not in '%s'", words, kedge_context_error(b->ctx));
}

static void refused_data_leave_a_solver_that_goes_on(void **state)
{
  (void)state;
  const sample *s = &samples[2];
  bench b = bench_of(s);
  kedge_boundary_value value[2] = {{.group = "tpo", .text = "1"}, {.group = "top", .text = "2"}};
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "1 +";
  refuse(&b, &data, KEDGE_ERR_INPUT, "of source");
  data.source = "1/0";
  refuse(&b, &data, KEDGE_ERR_INPUT, "source has no finite value");
  data.source = "log(x - 0.5)";
  refuse(&b, &data, KEDGE_ERR_INPUT, "source is nan at x =");
  data.source = NULL;
  data.n_values = 1;
  refuse(&b, &data, KEDGE_ERR_ARG, "1 boundary values without an array");
  data.values = value;
  refuse(&b, &data, KEDGE_ERR_INPUT, "no boundary group 'tpo'; did you mean 'top'?");
  value[0] = (kedge_boundary_value){.group = "top"};
  refuse(&b, &data, KEDGE_ERR_ARG, "the value of top needs a text or a function, one of them");
  value[0].text = "log(x - 0.5)";
  refuse(&b, &data, KEDGE_ERR_INPUT, "on boundary top is nan at x =");
  value[0].text = "1";
  data.n_values = 2;
  refuse(&b, &data, KEDGE_ERR_INPUT, "'top' is given two values");
  refuse(&b, &(kedge_data){0}, KEDGE_ERR_ARG, "begin with KEDGE_DATA_INIT");
  assert_int_equal(kedge_solver_solve(b.solver, NULL, NULL), KEDGE_ERR_ARG);
  kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, s, 1), *again = NULL;
  solve_again(b.ctx, b.solver, 1, &again);
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  bench_free(&b);
}

static void a_solution_of_another_solver_is_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_problem *problem = problem_of(b.ctx, samples[2].settings);
  kedge_solution *other = NULL;
  must(b.ctx, kedge_solve(b.ctx, b.mesh, problem, &other));
  kedge_data data = KEDGE_DATA_INIT;
  data.start = other;
  refuse(&b, &data, KEDGE_ERR_ARG, "to start from is of another mesh, order or kind");
  assert_int_equal(kedge_solver_solve(b.solver, NULL, &other), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(b.ctx), "was not made by this solver"));
  assert_null(other);
  kedge_problem_destroy(problem);
  bench_free(&b);
}

static void a_cancelled_solve_leaves_a_solver_that_goes_on(void **state)
{
  (void)state;
  for (int i = 2; i < SAMPLES; i += 5) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], 1), *again = NULL;
    patience p = {.most = 1};
    kedge_context_set_progress(b.ctx, be_patient, &p);
    const kedge_boundary_value top = {.group = "top", .text = tops[1]};
    kedge_data data = KEDGE_DATA_INIT;
    data.source = sources[1];
    data.n_values = 1;
    data.values = &top;
    int cancelled = 0;
    for (;; ++p.most, ++cancelled, p.calls = 0) {
      const kedge_status status = kedge_solver_solve(b.solver, &data, &again);
      if (status == KEDGE_OK) break;
      assert_int_equal(status, KEDGE_ERR_CANCELLED);
      assert_null(again);
    }
    assert_true(cancelled > 6);
    assert_same_solve(b.ctx, again, fresh);
    kedge_context_set_progress(b.ctx, NULL, NULL);
    kedge_solution_destroy(fresh);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static void many_right_hand_sides_are_solved_as_one_by_one(void **state)
{
  (void)state;
  enum { MANY = 4 };
  const sample *s = &samples[5];
  bench b = bench_of(s);
  kedge_boundary_value top[MANY];
  kedge_data data[MANY];
  const kedge_data *each[MANY] = {NULL};
  kedge_solution *solutions[MANY] = {NULL};
  for (int k = 0; k < DATA; ++k) {
    top[k] = (kedge_boundary_value){.group = "top", .text = tops[k]};
    data[k] = (kedge_data)KEDGE_DATA_INIT;
    data[k].source = sources[k];
    data[k].n_values = 1;
    data[k].values = &top[k];
    each[k] = &data[k];
  }
  for (int turn = 0; turn < 2; ++turn)
    must(b.ctx, kedge_solver_solve_many(b.solver, MANY, each, solutions));
  for (int k = 0; k < MANY; ++k) {
    kedge_solution *fresh = NULL;
    if (each[k])
      fresh = solve_fresh(b.ctx, b.mesh, s, k);
    else
      must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
    assert_same_solve(b.ctx, solutions[k], fresh);
    kedge_solution_destroy(fresh);
  }
  kedge_solution *const own = solutions[1];
  solutions[1] = solutions[0];
  assert_int_equal(kedge_solver_solve_many(b.solver, MANY, each, solutions), KEDGE_ERR_ARG);
  assert_non_null(solutions[0]);
  solutions[1] = own;
  data[1].source = "1 +";
  assert_int_equal(kedge_solver_solve_many(b.solver, MANY, each, solutions), KEDGE_ERR_INPUT);
  for (int k = 0; k < MANY; ++k) assert_null(solutions[k]);
  assert_int_equal(kedge_solver_solve_many(b.solver, 0, each, solutions), KEDGE_ERR_ARG);
  bench_free(&b);
}

/// What the transfer of the last set-up has moved, by its costs.
static double transferred(const bench *b)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(b->ctx, kedge_solver_report(b->solver, &report));
  int i = 0;
  while (strcmp(report.stages[i].name, "transfer") != 0) ++i;
  return report.stages[i].bytes;
}

static void an_update_is_a_new_solver_in_the_same_memory(void **state)
{
  (void)state;
  static const char *const diffusions[] = {"0.25", "3"};
  for (int i = 0; i < SAMPLES; i += 2) {
    bench b = bench_of(&samples[i]);
    const int64_t set_up = b.ctx->bytes_in_use;
    kedge_solution *again = NULL, *fresh = NULL;
    assert_true(transferred(&b) > 0.0);
    for (int k = 0; k < 2; ++k) {
      must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", diffusions[k]));
      must(b.ctx, kedge_problem_set(b.problem, "boundary top", "value", tops[k]));
      refuse(&b, NULL, KEDGE_ERR_ARG, "call kedge_solver_update()");
      must(b.ctx, kedge_solver_update(b.solver));
      if (k == 0) continue;
      assert_true(transferred(&b) == 0.0);  // the mesh stays where it is
      must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
      must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
      assert_same_solve(b.ctx, again, fresh);
      assert_true(b.ctx->bytes_in_use <= set_up);
    }
    kedge_solution_destroy(again);
    kedge_solution_destroy(fresh);
    bench_free(&b);
  }
}

static void a_refused_update_waits_for_one_that_succeeds(void **state)
{
  (void)state;
  bench b = bench_of(&samples[2]);
  kedge_solution *again = NULL, *fresh = NULL;
  must(b.ctx, kedge_problem_set(b.problem, "boundary botom", "type", "neumann"));
  assert_int_equal(kedge_solver_update(b.solver), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(b.ctx), "did you mean 'bottom'?"));
  refuse(&b, NULL, KEDGE_ERR_ARG, "call kedge_solver_update()");
  kedge_problem *problem = problem_of(b.ctx, samples[2].settings);
  must(b.ctx, kedge_problem_set(problem, "space", "order", "5"));  // takes more memory
  kedge_problem_destroy(b.problem);
  kedge_solver_destroy(b.solver);
  b.problem = problem;
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  must(b.ctx, kedge_problem_set(problem, "space", "order", "7"));
  must(b.ctx, kedge_problem_set(problem, "boundary left", "type", "neumann"));
  must(b.ctx, kedge_problem_set(problem, "boundary left", "value", "y"));
  must(b.ctx, kedge_solver_update(b.solver));
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &again));
  must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh));
  assert_same_solve(b.ctx, again, fresh);
  kedge_solution_destroy(again);
  kedge_solution_destroy(fresh);
  bench_free(&b);
}

static kedge_report report_from(kedge_context *ctx, kedge_solver *solver,
                                const kedge_solution *start, kedge_solution **solution)
{
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "1.001";
  data.start = start;
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solver_solve(solver, &data, solution));
  kedge_solution_report(*solution, &report);
  assert_true(report.converged);
  return report;
}

static void a_solve_that_starts_near_takes_fewer_iterations_to_the_same_solution(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES - 1; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_solution *cold = NULL, *near = NULL;
    kedge_data data = KEDGE_DATA_INIT;
    data.source = "1";
    must(b.ctx, kedge_solver_solve(b.solver, &data, &near));
    const kedge_report of_cold = report_from(b.ctx, b.solver, NULL, &cold);
    const kedge_report of_near = report_from(b.ctx, b.solver, near, &near);
    assert_true(of_cold.start_residual == 1.0);
    assert_true(of_near.start_residual < 0.01);
    assert_true(of_near.relative_residual <= of_near.tolerance);
    assert_true(of_near.iterations < of_cold.iterations);
    fields f = fields_of(b.ctx, cold), g = fields_of(b.ctx, near);
    assert_true(fields_distance(&f, &g) < 1e-7);
    fields_free(&f);
    fields_free(&g);
    const kedge_report of_itself = report_from(b.ctx, b.solver, near, &near);
    assert_true(of_itself.iterations == 0 && of_itself.stop == KEDGE_STOP_TOLERANCE);
    kedge_solution_destroy(cold);
    kedge_solution_destroy(near);
    bench_free(&b);
  }
}

static void the_memory_of_a_solver_is_predicted(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    kedge_plan plan = KEDGE_PLAN_INIT;
    bench b = bench_of(&samples[i]);
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
    must(b.ctx, kedge_solver_report(b.solver, &report));
    assert_int_equal(plan.peak_bytes[plan.operator_kind], b.ctx->bytes_in_use);
    assert_int_equal(report.predicted_device_bytes, b.ctx->bytes_in_use);
    assert_int_equal(report.peak_device_bytes, b.ctx->bytes_in_use);
    assert_true(plan.fits[plan.operator_kind]);
    bench_free(&b);
  }
}

static void a_solver_holds_little_more_than_a_solve_at_its_peak(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "4", "6"};
  static const char *const precisions[] = {"double", "mixed", "compact"};
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = square_mesh(ctx, 120);
  for (int i = 0; i < 12; ++i) {
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"space", "order", orders[i / 3]}, {"boundary default", "type", "dirichlet"},
                      {"boundary default", "value", "0"}, {"solver", "preconditioner", "multigrid"},
                      {"solver", "precision", precisions[i % 3]}));
    kedge_plan once = KEDGE_PLAN_INIT, many = KEDGE_PLAN_INIT;
    must(ctx, kedge_plan_make(ctx, mesh, problem, &once));
    must(ctx, kedge_solver_plan(ctx, mesh, problem, &many));
    const double ratio = (double)many.peak_bytes[0] / (double)once.peak_bytes[0];
    if (ratio > 1.08) fail_msg("order %s, %s: %.3f times", orders[i / 3], precisions[i % 3], ratio);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solves_of_one_solver_are_those_of_fresh_ones),
      cmocka_unit_test(a_hundred_solves_take_no_more_memory_than_a_few),
      cmocka_unit_test(batches_of_one_shape_are_solved_again_too),
      cmocka_unit_test(data_may_be_functions_of_the_caller),
      cmocka_unit_test(the_data_of_the_problem_are_taken_where_none_are_given),
      cmocka_unit_test(refused_data_leave_a_solver_that_goes_on),
      cmocka_unit_test(a_solution_of_another_solver_is_refused),
      cmocka_unit_test(a_cancelled_solve_leaves_a_solver_that_goes_on),
      cmocka_unit_test(many_right_hand_sides_are_solved_as_one_by_one),
      cmocka_unit_test(an_update_is_a_new_solver_in_the_same_memory),
      cmocka_unit_test(a_refused_update_waits_for_one_that_succeeds),
      cmocka_unit_test(a_solve_that_starts_near_takes_fewer_iterations_to_the_same_solution),
      cmocka_unit_test(the_memory_of_a_solver_is_predicted),
      cmocka_unit_test(a_solver_holds_little_more_than_a_solve_at_its_peak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

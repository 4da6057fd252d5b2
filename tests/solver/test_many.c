// Several right-hand sides at once: what each of them is alone, to its tolerance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "compare.h"
#include "device/context.h"
#include "ops/vector/difference.h"
#include "solver/solver.h"
#include "support.h"
#include "wrap.h"

/// The host takes many at once here too.
static bool is_asked;
WRAP(bool, kg_many_pays, const kedge_context *ctx, int n)
{
  return is_asked || REAL(kg_many_pays)(ctx, n);
}

/// Residuals of one vector that are made.
static int n_alone;
WRAP(kedge_status, kg_difference, kedge_context *ctx, const kg_difference_args *args)
{
  n_alone += !args->many;
  return REAL(kg_difference)(ctx, args);
}

enum { MOST = 6 };

static const char *const sources[MOST] = {"1", "exp(x)*y", "0", "sin(9*x*y)", "1e9*x", "-y"};
static const char *const tops[MOST] = {"x", "0", "0", "cos(3*x)", "1e9", "2"};
/// The third right-hand side is zero where this is.
static const char *const lefts[MOST] = {"x - y", "1", "0", "y", "x", "0"};

/// A problem and the mesh it is on.
typedef struct sample {
  const char *generate;
  setting settings[12];
} sample;

typedef struct bench {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_solver *solver;
} bench;

static bench bench_of(const sample *s, const char *tolerance)
{
  bench b = {.ctx = open_backend(test_backend(), 2)};
  must(b.ctx, kedge_mesh_generate(b.ctx, s->generate, &b.mesh));
  b.problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_problem_set(b.problem, "solver", "tolerance", tolerance));
  must(b.ctx, kedge_problem_set(b.problem, "boundary default", "type", "dirichlet"));
  must(b.ctx, kedge_problem_set(b.problem, "boundary default", "value", "0"));
  must(b.ctx, kedge_problem_set(b.problem, "boundary left", "type", "dirichlet"));
  must(b.ctx, kedge_problem_set(b.problem, "boundary left", "value", "0"));
  must(b.ctx, kedge_problem_set(b.problem, "boundary top", "type", "neumann"));
  must(b.ctx, kedge_problem_set(b.problem, "boundary top", "value", "0"));
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  return b;
}

static void bench_free(bench *b)
{
  const int64_t after = b->ctx->bytes_in_use - b->solver->bytes;
  kedge_solver_destroy(b->solver);
  assert_int_equal(b->ctx->bytes_in_use, after);
  kedge_problem_destroy(b->problem);
  kedge_mesh_destroy(b->mesh);
  kedge_context_destroy(b->ctx);
}

typedef struct all_data {
  kedge_boundary_value values[MOST][2];
  kedge_data data[MOST];
  const kedge_data *each[MOST];
} all_data;

static void fill(all_data *d)
{
  for (int k = 0; k < MOST; ++k) {
    d->values[k][0] = (kedge_boundary_value){.group = "top", .text = tops[k]};
    d->values[k][1] = (kedge_boundary_value){.group = "left", .text = lefts[k]};
    d->data[k] = (kedge_data)KEDGE_DATA_INIT;
    d->data[k].source = sources[k];
    d->data[k].n_values = 2;
    d->data[k].values = d->values[k];
    d->each[k] = &d->data[k];
  }
}

static kedge_report report(const kedge_solution *solution)
{
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  return r;
}

/// Both stop alike, a solve near the limit of its iterations perhaps one later.
static void assert_alike(kedge_context *ctx, const kedge_solution *at_once,
                         const kedge_solution *alone, double distance_most)
{
  const kedge_report a = report(at_once), b = report(alone);
  assert_true(a.converged == b.converged);
  assert_true(labs((long)(a.iterations - b.iterations)) <= 1);
  assert_at_most(a.relative_residual, fmax(10.0 * b.relative_residual, 2e-15));
  fields f = fields_of(ctx, at_once), g = fields_of(ctx, alone);
  assert_at_most(fields_distance(&f, &g), distance_most);
  fields_free(&f);
  fields_free(&g);
}

/// Solves n at once, and each alone by the same solver.
static void check(bench *b, int n, double distance_most)
{
  all_data d;
  fill(&d);
  kedge_solution *at_once[MOST] = {NULL}, *alone = NULL;
  is_asked = true;
  for (int turn = test_is_quick() ? 1 : 0; turn < 2; ++turn)  // a GPU replays a recording
    must(b->ctx, kedge_solver_solve_many(b->solver, n, d.each, at_once));
  is_asked = false;
  assert_non_null(b->solver->many);
  for (int k = 0; k < n; ++k) {
    must(b->ctx, kedge_solver_solve(b->solver, d.each[k], &alone));
    assert_alike(b->ctx, at_once[k], alone, distance_most);
    kedge_solution_destroy(at_once[k]);
  }
  kedge_solution_destroy(alone);
}

static const sample samples[] = {
    {"square 9", {{"space", "order", "1"}, {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "2"},
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {"square 12",
     {{"space", "order", "3"},
      {"equation", "reaction", "2"},
      {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "4"},
      {"equation", "reaction", "2"},
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {"square 9",
     {{"space", "order", "5"},
      {"solver", "preconditioner", "multigrid"},
      {"solver", "smoothing_steps", "2"}}},
    {"square 9", {{"space", "order", "6"}, {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "3"},
      {"equation", "diffusion", "1 + x*y"},
      {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "2"},
      {"equation", "diffusion", "2, 0.5, 1"},
      {"solver", "preconditioner", "multigrid"}}},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static void each_is_what_it_is_alone(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += test_is_quick() ? 2 : 1) {
    bench b = bench_of(&samples[i], "1e-8");
    check(&b, KG_VECTORS, 1e-7);
    bench_free(&b);
  }
}

static void their_memory_is_predicted(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += test_is_quick() ? 4 : 1) {
    bench b = bench_of(&samples[i], "1e-6");
    kedge_plan plan = KEDGE_PLAN_INIT;
    is_asked = true;
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
    is_asked = false;
    const int64_t before = b.ctx->bytes_in_use;
    check(&b, KG_VECTORS, 1e-5);
    assert_true(plan.many_bytes > 0);
    assert_int_equal(b.ctx->bytes_in_use - before, plan.many_bytes);
    kedge_solution *solution = NULL;
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
    must(b.ctx, kedge_solution_report(solution, &report));
    assert_int_equal(report.peak_device_bytes, b.ctx->bytes_in_use);
    assert_int_equal(report.predicted_device_bytes, report.peak_device_bytes);
    kedge_solution_destroy(solution);
    bench_free(&b);
  }
}

/// Restarts leave alone what is done.
static void sharp_tolerances_are_met_too(void **state)
{
  (void)state;
  for (int i = 1; i < SAMPLES; i += test_is_quick() ? 2 : 1) {
    bench b = bench_of(&samples[i], i % 2 == 0 ? "1e-13" : "1e-15");
    check(&b, KG_VECTORS, 1e-12);
    bench_free(&b);
  }
}

/// Where all that is left is rounding no residual is made again.
static void rounding_ends_all_at_once(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0], "1e-15");
  all_data d;
  fill(&d);
  for (int k = 0; k < KG_VECTORS; ++k) d.data[k].n_values = 0;
  d.data[2].source = "y";
  kedge_solution *at_once[MOST] = {NULL}, *alone = NULL;
  is_asked = true;
  n_alone = 0;
  must(b.ctx, kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, at_once));
  assert_int_equal(n_alone, 0);
  is_asked = false;
  for (int k = 0; k < KG_VECTORS; ++k) {
    must(b.ctx, kedge_solver_solve(b.solver, d.each[k], &alone));
    assert_alike(b.ctx, at_once[k], alone, 1e-12);
    assert_int_equal(report(at_once[k]).stop, KEDGE_STOP_ROUNDING);
    assert_int_equal(report(alone).stop, KEDGE_STOP_ROUNDING);
    kedge_solution_destroy(at_once[k]);
  }
  kedge_solution_destroy(alone);
  bench_free(&b);
}

/// Three leave a place empty; of six two are left that are solved one by one.
static void any_number_is_solved(void **state)
{
  (void)state;
  bench b = bench_of(&samples[1], "1e-9");
  check(&b, 3, 1e-8);
  check(&b, MOST, 1e-8);
  bench_free(&b);
}

static void a_limit_of_iterations_ends_each(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0], "1e-13");
  must(b.ctx, kedge_problem_set(b.problem, "solver", "max_iterations", "4"));
  must(b.ctx, kedge_solver_update(b.solver));
  check(&b, KG_VECTORS, 1e-11);
  bench_free(&b);
}

/// Lines and other operators are not taken.
static void others_are_solved_one_by_one(void **state)
{
  (void)state;
  const sample others[] = {
      {"square 9", {{"space", "order", "2"}, {"solver", "preconditioner", "jacobi"}}},
      {"square 9", {{"space", "order", "2"}, {"solver", "operator", "ell"}}},
      {"square 9",
       {{"space", "order", "2"},
        {"solver", "preconditioner", "multigrid"},
        {"solver", "smoother", "line"}}},
      {"square 9", {{"space", "order", "7"}, {"solver", "preconditioner", "multigrid"}}},
      {"quads 9", {{"space", "order", "2"}, {"solver", "preconditioner", "multigrid"}}},
      {"square 9",
       {{"space", "order", "2"},
        {"solver", "preconditioner", "multigrid"},
        {"solver", "precision", "compact"}}},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    bench b = bench_of(&others[i], "1e-9");
    all_data d;
    fill(&d);
    kedge_solution *solutions[MOST] = {NULL};
    is_asked = true;
    must(b.ctx, kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, solutions));
    is_asked = false;
    assert_null(b.solver->many);
    for (int k = 0; k < KG_VECTORS; ++k) {
      assert_true(report(solutions[k]).converged);
      kedge_solution_destroy(solutions[k]);
    }
    bench_free(&b);
  }
}

/// Data that are made of a solution to overwrite are made of what the solve before has left there.
static void solutions_to_overwrite_may_be_data(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0], "1e-10");
  all_data d;
  fill(&d);
  kedge_solution *many[MOST] = {NULL}, *alone[MOST] = {NULL};
  for (int turn = 0; turn < 2; ++turn) {
    is_asked = true;
    must(b.ctx, kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, many));
    is_asked = false;
    for (int k = 0; k < KG_VECTORS; ++k) {
      if (turn == 1 && k == 1) d.data[1].source_user = alone[0];
      if (turn == 1 && k == 3) d.values[3][1].user = alone[1];
      must(b.ctx, kedge_solver_solve(b.solver, d.each[k], &alone[k]));
      assert_alike(b.ctx, many[k], alone[k], 1e-8);
    }
    d.data[0].source = "40*y";
    d.data[1].source = d.values[3][1].text = NULL;
    d.data[1].source_function = d.values[3][1].function = kedge_by_solution;
    d.data[1].source_user = many[0];
    d.values[3][1].user = many[1];
  }
  for (int k = 0; k < KG_VECTORS; ++k) {
    kedge_solution_destroy(many[k]);
    kedge_solution_destroy(alone[k]);
  }
  bench_free(&b);
}

/// An operator that is not positive definite is refused in the words of a solve alone. That of the
/// coarse space still is: the set-up does not notice.
static void failures_are_told_alike(void **state)
{
  (void)state;
  const sample s = {"square 2",
                    {{"boundary right", "type", "robin"},
                     {"boundary right", "coefficient", "-1.76"},
                     {"boundary right", "value", "0"},
                     {"space", "order", "4"},
                     {"solver", "preconditioner", "multigrid"}}};
  bench b = bench_of(&s, "1e-9");
  all_data d;
  fill(&d);
  kedge_solution *many[MOST] = {NULL}, *alone = NULL;
  is_asked = true;
  const kedge_status status = kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, many);
  is_asked = false;
  assert_non_null(b.solver->many);
  assert_int_equal(status, KEDGE_ERR_NUMERIC);
  char sentence[512];
  snprintf(sentence, sizeof sentence, "%s", kedge_context_error(b.ctx));
  assert_int_equal(kedge_solver_solve(b.solver, d.each[0], &alone), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(sentence, "robin coefficient"));
  assert_string_equal(sentence, kedge_context_error(b.ctx));
  bench_free(&b);
}

/// A failure leaves a solver that goes on.
static void a_refused_source_ends_all(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0], "1e-9");
  all_data d;
  fill(&d);
  kedge_solution *solutions[MOST] = {NULL};
  is_asked = true;
  d.data[2].source = "sqrt(x - 2)";
  assert_int_not_equal(kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, solutions), KEDGE_OK);
  for (int k = 0; k < KG_VECTORS; ++k) assert_null(solutions[k]);
  d.data[2].source = "1 +";
  assert_int_equal(kedge_solver_solve_many(b.solver, KG_VECTORS, d.each, solutions),
                   KEDGE_ERR_INPUT);
  for (int k = 0; k < KG_VECTORS; ++k) assert_null(solutions[k]);
  is_asked = false;
  check(&b, KG_VECTORS, 1e-8);
  bench_free(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_what_it_is_alone),
      cmocka_unit_test(their_memory_is_predicted),
      cmocka_unit_test(sharp_tolerances_are_met_too),
      cmocka_unit_test(rounding_ends_all_at_once),
      cmocka_unit_test(any_number_is_solved),
      cmocka_unit_test(a_limit_of_iterations_ends_each),
      cmocka_unit_test(others_are_solved_one_by_one),
      cmocka_unit_test(solutions_to_overwrite_may_be_data),
      cmocka_unit_test(failures_are_told_alike),
      cmocka_unit_test(a_refused_source_ends_all),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

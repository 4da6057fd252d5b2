// Numbers of groups: reaction, source and fluxes of the boundary balance to what the iteration
// leaves in every form of a solve, whichever call has made it, and have the same bits whatever the
// threads and chunks are. tests/solver/test_balance.c looks at every element, and
// tests/python/test_numbers.py at the values.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/elliptic.h"
#include "elliptic/recover/recover.h"
#include "solver/solver.h"
#include "support.h"

#include "data_case.h"

/// The remainder is at most this, relative to the largest integral or flux and to the residual at
/// which the iteration ended, a part of the norm of b. Diffusions of 45 and 0.25 side by side,
/// which b has to do with and fluxes have not, make it 110; the other cases have 5 at most.
#define LEFT 200.0

static double larger(double a, double b)
{
  return fabs(a) > b ? fabs(a) : b;
}

/// Check the sums of a report against each other.
static void check(const kedge_report *r)
{
  const kedge_balance *const b = &r->balance;
  double most = larger(b->source, larger(b->reaction, 0.0));
  double flux = 0.0, source = 0.0, reaction = 0.0, area = 0.0, length = 0.0;
  int64_t elements = 0, edges = 0;
  assert_true(r->converged);
  for (int i = 0; i < r->n_groups; ++i) {
    const kedge_group_values *const v = r->groups[i];
    assert_int_equal(v->size, sizeof *v);
    assert_at_most(fabs(v->mean * v->length - v->integral), 1e-14 * larger(v->integral, 1.0));
    if (v->inside) continue;
    most = larger(v->flux, most);
    flux += v->flux;
    length += v->length;
    edges += v->edges;
  }
  for (int i = 0; i < r->n_regions; ++i) {
    const kedge_region_values *const v = r->regions[i];
    assert_int_equal(v->size, sizeof *v);
    assert_true(v->energy >= 0.0 && v->least <= v->mean && v->mean <= v->most);
    source += v->source;
    reaction += v->reaction;
    area += v->area;
    elements += v->elements;
  }
  assert_int_equal(elements, r->elements);
  assert_int_equal(edges, r->boundary_edges);
  assert_at_most(fabs(area - 1.0), 1e-13);
  assert_at_most(fabs(length - 4.0), 1e-13);
  assert_true(flux == b->flux && source == b->source && reaction == b->reaction);
  assert_true(b->remainder == reaction - source - flux);
  assert_true(r->relative_residual <= 1e-12);
  assert_at_most(fabs(b->remainder), LEFT * r->relative_residual * most);
}

static void check_solution(const kedge_solution *solution)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &report));
  check(&report);
}

/// Solve, by turns for the report alone, and check.
static void solve_and_check(const kedge_mesh *mesh, const kedge_problem *problem)
{
  static int turn;
  kedge_solution *solution;
  must(ctx, (++turn % 2 ? kedge_solve : kedge_solve_report)(ctx, mesh, problem, &solution));
  check_solution(solution);
  kedge_solution_destroy(solution);
}

#define CONDITIONS                                                                    \
  {"equation", "source", "1 + x*y"}, {"boundary 4", "type", "dirichlet"},             \
      {"boundary 4", "value", "sin(x) + y"}, {"boundary default", "type", "neumann"}, \
      {"boundary default", "value", "cos(x) - y"},                                    \
  {                                                                                   \
    "solver", "tolerance", "1e-12"                                                    \
  }
#define COMMON                                                               \
  CONDITIONS, {"boundary 2", "type", "robin"}, {"boundary 2", "value", "x"}, \
  {                                                                          \
    "boundary 2", "coefficient", "1 + y"                                     \
  }

/// Coefficients of every kind.
static const setting equations[][4] = {
    {{"equation", "diffusion", "0.6"}, {"equation", "reaction", "1.3"}},
    {{"equation", "diffusion", "2, 0.5, 1"}, {"space", "stabilization", "1.5"}},
    {{"region 1", "diffusion", "45"},
     {"region 2", "diffusion", "0.25, 0.1, 1"},
     {"region 3", "reaction", "2"}},
    {{"equation", "diffusion", "1 + x*y"}, {"equation", "reaction", "0.5 + x"}},
    {{"equation", "diffusion", "2 + x, 0.5*y, 1"}, {"space", "stabilization", "0.8/h"}}};
enum { EQUATIONS = sizeof equations / sizeof *equations };

static void add(kedge_problem *problem, const setting *settings)
{
  for (const setting *s = settings; s->section; ++s)
    must(ctx, kedge_problem_set(problem, s->section, s->key, s->value));
}

static void every_shape_and_coefficient_balances(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "3", "5"};
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    for (int k = 0; k < EQUATIONS; ++k) {
      kedge_problem *problem =
          problem_of(ctx, SETTINGS(COMMON, {"space", "order", orders[(i + k) % 4]}));
      add(problem, equations[k]);
      solve_and_check(mesh, problem);
      kedge_problem_destroy(problem);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void parallelograms_balance(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "2", "4"};
  for (int i = 0; i < 3; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &(struct grid){i == 2 ? CHECKERED : WHOLE, 1, stay}, N);
    kedge_problem *problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", orders[i]}));
    add(problem, equations[i]);
    solve_and_check(mesh, problem);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void every_inverse_and_precision_balances(void **state)
{
  (void)state;
  static const setting ways[] = {
      {"space", "inverse", "adjusted"}, {"space", "inverse", "exact"},
      {"space", "inverse", "gradient"}, {"solver", "precision", "double"},
      {"solver", "precision", "mixed"}, {"solver", "preconditioner", "jacobi"},
      {"solver", "operator", "ell"}};
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
      kedge_problem *problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", "3"}));
      add(problem, equations[(i + (int)k) % 2]);
      add(problem, SETTINGS(ways[k]));
      solve_and_check(mesh, problem);
      kedge_problem_destroy(problem);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void compact_precision_balances(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    for (int k = 0; k < EQUATIONS; ++k) {
      kedge_problem *problem =
          problem_of(ctx, SETTINGS(CONDITIONS, {"space", "order", k % 2 ? "2" : "4"},
                                   {"solver", "precision", "compact"},
                                   {"solver", "preconditioner", "multigrid"}));
      add(problem, equations[k]);
      solve_and_check(mesh, problem);
      kedge_problem_destroy(problem);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void numbers_by_element_balance(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_problem *problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", "2"}));
    double k[2 * N * N], f[2 * N * N];
    for (int e = 0; e < 2 * N * N; ++e) {
      k[e] = 0.5 + e % 7;
      f[e] = e % 5 - 1.5;
    }
    must(ctx, kedge_problem_set_function(problem, "equation", "diffusion", kedge_by_element, k));
    must(ctx, kedge_problem_set_function(problem, "equation", "reaction", kedge_by_element, k));
    must(ctx, kedge_problem_set_function(problem, "equation", "source", kedge_by_element, f));
    solve_and_check(mesh, problem);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

/// All numbers of a solution, one after the other.
typedef struct numbers {
  size_t n;
  double v[256];
} numbers;

static void take(numbers *to, size_t n, const double *values)
{
  assert_true(to->n + n <= sizeof to->v / sizeof *to->v);
  memcpy(to->v + to->n, values, n * sizeof *values);
  to->n += n;
}

static numbers numbers_of_report(const kedge_report *r)
{
  numbers all = {0};
  for (int i = 0; i < r->n_groups; ++i)
    take(&all, 4,
         (const double[]){r->groups[i]->length, r->groups[i]->integral, r->groups[i]->mean,
                          r->groups[i]->flux});
  for (int i = 0; i < r->n_regions; ++i) {
    const kedge_region_values *const v = r->regions[i];
    take(&all, 8,
         (const double[]){v->area, v->integral, v->mean, v->energy, v->source, v->reaction,
                          v->least, v->most});
    take(&all, 2, v->least_at);
    take(&all, 2, v->most_at);
  }
  take(&all, 4,
       (const double[]){r->balance.source, r->balance.reaction, r->balance.flux,
                        r->balance.remainder});
  return all;
}

static numbers numbers_of(const kedge_solution *solution)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &report));
  return numbers_of_report(&report);
}

static void assert_same_numbers(const numbers *a, const numbers *b)
{
  assert_int_equal(a->n, b->n);
  assert_memory_equal(a->v, b->v, a->n * sizeof *a->v);
}

/// A solver of one of the grids.
typedef struct set_up {
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_solver *solver;
} set_up;

static set_up set_up_of(int grid)
{
  set_up s = {.mesh = mesh_of(ctx, &grids[grid], N)};
  s.problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", "3"}));
  must(ctx, kedge_solver_create(ctx, s.mesh, s.problem, &s.solver));
  return s;
}

static void set_up_free(set_up *s)
{
  kedge_solver_destroy(s->solver);
  kedge_problem_destroy(s->problem);
  kedge_mesh_destroy(s->mesh);
}

static void a_solution_that_is_overwritten_has_the_numbers_of_the_last_solve(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    set_up s = set_up_of(i);
    const kedge_data other = {.size = sizeof other, .source = "5 - x"};
    kedge_solution *solution = NULL, *fresh = NULL;
    must(ctx, kedge_solver_solve(s.solver, NULL, &solution));
    check_solution(solution);
    const numbers first = numbers_of(solution);
    must(ctx, kedge_solver_solve(s.solver, &other, &solution));
    check_solution(solution);
    const numbers second = numbers_of(solution);
    assert_true(memcmp(first.v, second.v, sizeof *first.v * first.n) != 0);
    must(ctx, kedge_solver_solve(s.solver, &other, &fresh));
    const numbers alone = numbers_of(fresh);
    assert_same_numbers(&second, &alone);
    must(ctx, kedge_solver_solve(s.solver, NULL, &solution));
    const numbers again = numbers_of(solution);
    assert_same_numbers(&first, &again);
    kedge_solution_destroy(solution);
    kedge_solution_destroy(fresh);
    set_up_free(&s);
  }
}

static void several_right_hand_sides_have_the_numbers_of_their_own(void **state)
{
  (void)state;
  enum { DATA = 5 };
  for (int i = 0; i < GRIDS; ++i) {
    set_up s = set_up_of(i);
    static const char *const sources[DATA] = {"1", "x", "-y", "x*y", "exp(x)"};
    kedge_data data[DATA];
    const kedge_data *each[DATA];
    kedge_solution *solutions[DATA] = {NULL};
    for (int k = 0; k < DATA; ++k) {
      data[k] = (kedge_data){.size = sizeof *data, .source = sources[k]};
      each[k] = &data[k];
    }
    must(ctx, kedge_solver_solve_many(s.solver, DATA, each, solutions));
    for (int k = 0; k < DATA; ++k) {
      kedge_solution *alone = NULL;
      check_solution(solutions[k]);
      must(ctx, kedge_solver_solve(s.solver, each[k], &alone));
      const numbers a = numbers_of(solutions[k]), b = numbers_of(alone);
      assert_close(a.n, a.v, b.v, 1e-10);
      kedge_solution_destroy(alone);
      kedge_solution_destroy(solutions[k]);
    }
    set_up_free(&s);
  }
}

static void a_recovered_trace_has_the_numbers_of_its_solution(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    set_up s = set_up_of(i);
    kedge_report report = KEDGE_REPORT_INIT;
    kedge_solution *solution = NULL, *recovered = NULL;
    must(ctx, kedge_solver_solve(s.solver, NULL, &solution));
    must(ctx, kedge_solution_report(solution, &report));
    const size_t m = (size_t)report.order + 1, n = (size_t)report.trace_unknowns;
    double *modes = calloc((size_t)report.edges * m, sizeof *modes);
    double *x = calloc(n, sizeof *x);
    int32_t *edges = calloc(n / m, sizeof *edges);
    assert_true(modes && x && edges);
    must(ctx, kedge_solution_trace(solution, NULL, modes));
    must(ctx, kedge_solver_edges(s.solver, edges));
    for (size_t k = 0; k < n; ++k) x[k] = modes[(size_t)edges[k / m] * m + k % m];
    must(ctx, kedge_solver_recover(s.solver, NULL, x, &recovered));
    const numbers a = numbers_of(solution), b = numbers_of(recovered);
    assert_close(a.n, b.v, a.v, 1e-12);
    free(modes);
    free(x);
    free(edges);
    kedge_solution_destroy(solution);
    kedge_solution_destroy(recovered);
    set_up_free(&s);
  }
}

static void a_set_up_has_no_numbers_yet(void **state)
{
  (void)state;
  set_up s = set_up_of(0);
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solver_report(s.solver, &report));
  assert_int_equal(report.n_groups, 0);
  assert_int_equal(report.n_regions, 0);
  assert_true(isnan(report.conductance) && isnan(report.energy_conductance));
  set_up_free(&s);
}

static void run(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *))
{
  must(ctx, kg_run_begin(&p->run, stage));
  must(ctx, kg_run_end(&p->run, work(p)));
}

/// Solve with chunks of this many lane groups.
static numbers numbers_by_chunks(const kedge_mesh *mesh, const kedge_problem *problem, int groups)
{
  kedge_solution *solution;
  must(ctx, kg_solution_create(ctx, &solution));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem, .run.solution = solution};
  must(ctx, kg_elliptic_prepare(&p));
  p.shape.choice.recover_groups = groups;
  p.shape.choice.kept = KG_HOLDS_MODES | KG_HOLDS_INDICATOR | KG_HOLDS_TRACE;
  kg_memory_choose(ctx, &p.shape, kg_memory_free(ctx), &p.plan, &p.arrays);
  kg_report_fill(&p);
  must(ctx, kg_results_allocate(&p, KG_ON_HOST));
  run(&p, KG_STAGE_TRANSFER, kg_stage_transfer);
  run(&p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices);
  run(&p, KG_STAGE_ASSEMBLY, kg_stage_assembly);
  run(&p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve);
  must(ctx, kg_stages_local(&p));
  const numbers all = numbers_of_report(&solution->report);
  kg_elliptic_free(&p);
  kedge_solution_destroy(solution);
  return all;
}

static void numbers_have_the_same_bits_whatever_chunks_and_threads_are(void **state)
{
  (void)state;
  enum { WIDE = 40 };  // 50 to 100 lane groups, so that runs are cut
  const int chunks[] = {1, 3, 33, 1000};
  const int64_t work = ctx->work_of_a_team;
  const int threads = ctx->threads;
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], WIDE);
    kedge_problem *problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", "1"}));
    add(problem, equations[2]);
    const numbers all = numbers_by_chunks(mesh, problem, 1000);
    for (int k = 0; k < 4; ++k) {
      ctx->work_of_a_team = k % 2 ? work : 0;
      ctx->threads = 1 + k % 2 * 2;
      const numbers some = numbers_by_chunks(mesh, problem, chunks[k]);
      assert_same_numbers(&all, &some);
    }
    ctx->work_of_a_team = work;
    ctx->threads = threads;
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void numbers_do_not_depend_on_the_cut_into_batches(void **state)
{
  (void)state;
  static const int32_t cuts[][2] = {{1, 2}, {17, 40}, {32, 64}, {5, 71}};
  kedge_mesh *mesh = mesh_of(ctx, &grids[0], N);
  kedge_problem *problem = problem_of(ctx, SETTINGS(COMMON, {"space", "order", "2"}));
  add(problem, equations[2]);
  kedge_solution *one;
  must(ctx, kedge_solve(ctx, mesh, problem, &one));
  const numbers expected = numbers_of(one);
  for (int k = 0; k < 4; ++k) {
    kedge_solution *several;
    ctx->n_cuts = 2;
    ctx->cuts = cuts[k];
    must(ctx, kedge_solve(ctx, mesh, problem, &several));
    ctx->n_cuts = 0;
    check_solution(several);
    const numbers found = numbers_of(several);
    assert_close(expected.n, found.v, expected.v, 1e-11);
    kedge_solution_destroy(several);
  }
  kedge_solution_destroy(one);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_and_coefficient_balances),
      cmocka_unit_test(parallelograms_balance),
      cmocka_unit_test(every_inverse_and_precision_balances),
      cmocka_unit_test(compact_precision_balances),
      cmocka_unit_test(numbers_by_element_balance),
      cmocka_unit_test(a_solution_that_is_overwritten_has_the_numbers_of_the_last_solve),
      cmocka_unit_test(several_right_hand_sides_have_the_numbers_of_their_own),
      cmocka_unit_test(a_recovered_trace_has_the_numbers_of_its_solution),
      cmocka_unit_test(a_set_up_has_no_numbers_yet),
      cmocka_unit_test(numbers_have_the_same_bits_whatever_chunks_and_threads_are),
      cmocka_unit_test(numbers_do_not_depend_on_the_cut_into_batches),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}

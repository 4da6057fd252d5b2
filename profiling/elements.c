// elements: operators and whole solves of any elements and coefficients: median time, share of the
// floor.
//
//   elements [--backend host|cuda] [--orders 1-8] [--mesh "quads 500"] [--samples 5]
//            [--only local_matrices,trace_apply,cg_iteration,local_solve,postprocess,solve]
//            [--set mesh.geometry=2 --set "mesh.map=X, Y" --set equation.diffusion=...]
//            [--no-check]
//
// One JSON object a line: the machine, then one for each order and operator; with --only solve
// those of `pipeline`. An operator takes all elements at once, and coefficients have their values
// at all points before: nothing is sampled in what is timed. With --check all results are compared
// with the host's, of small meshes, please; the exit code is 1 where one differs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "elements.h"

static const double error_limit = 1e-11;  // rounding, times the condition of a local problem

typedef struct operation {
  const char *name;
  kedge_status (*call)(void *user);
  kg_cost (*cost)(const elements_bench *e);
} operation;

static const operation operations[] = {
    {"local_matrices", elements_make, elements_make_cost},
    {"trace_apply", elements_apply, elements_apply_cost},
    {"local_solve", elements_recover, elements_recover_cost},
    {"postprocess", elements_postprocess, elements_postprocess_cost}};

/// n numbers of results of an operator, where a bench has them: for lanes of elements `rows` each,
/// else 0 rows.
typedef struct piece {
  const double *values;
  size_t n, rows;
} piece;

static piece piece_of(const elements_bench *e, const operation *op, int batch)
{
  const elements_batch *const i = &e->batch[batch];
  const size_t lanes = KG_LANES * (size_t)kg_elements_groups(i->elements);
  const size_t modes = (size_t)i->elements->size.n_modes, star = (size_t)i->elements->size.n_star;
  if (op->call == elements_apply) return (piece){e->b.y.data, (size_t)e->b.vectors.n, 0};
  if (op->call == elements_make) return (piece){i->local.data, kg_local_count(&i->local), 0};
  if (op->call == elements_recover) return (piece){i->u, lanes * modes, modes};
  return (piece){i->u_star, lanes * star, star};
}

/// The distance of a piece from the host's. Lanes without an element have whatever a backend leaves
/// there.
static double distance(const elements_bench *e, piece found, piece expected, size_t n_elements)
{
  double *copy, sum = 0.0, norm = 0.0;
  BENCH_TRY(e->b.p.ctx, kg_host_alloc(e->b.p.ctx, found.n, sizeof *copy, &copy));
  BENCH_TRY(e->b.p.ctx, kg_copy_out(e->b.p.ctx, copy, found.values, found.n * sizeof *copy));
  BENCH_TRY(e->b.p.ctx, kg_sync(e->b.p.ctx));
  for (size_t i = 0; i < found.n; ++i) {
    const double d = copy[i] - expected.values[i];
    if (found.rows && i / (KG_LANES * found.rows) * KG_LANES + i % KG_LANES >= n_elements) continue;
    sum += d * d;
    norm += expected.values[i] * expected.values[i];
  }
  free(copy);
  return sqrt(sum / norm);
}

/// The largest distance from the host's results, of the batches.
static double error_against(elements_bench *host, const elements_bench *e, const operation *op)
{
  double most = 0.0;
  BENCH_TRY(host->b.p.ctx, op->call(host));
  for (int i = 0; i < e->n_batches; ++i) {
    const double error = distance(e, piece_of(e, op, i), piece_of(host, op, i),
                                  (size_t)e->batch[i].elements->n_elements);
    most = fmax(most, isfinite(error) ? error : INFINITY);
  }
  return most;
}

/// What a line is printed from.
typedef struct measured {
  const char *name;
  double seconds, error;
  kg_cost cost;
} measured;

static void print_measured(const bench_settings *s, const roofs *roof, const elements_bench *e,
                           measured r)
{
  const int order = e->b.p.shape.size.order;
  const double floor_seconds = bench_floor(roof, r.cost);
  char ways[32];
  elements_ways(e, ways);
  printf("{\"order\":%d,\"elements\":%d,\"samples\":%d", order, e->b.p.mesh->n_elements,
         s->samples);
  bench_print_text("operator", r.name);
  bench_print_text("ways", ways);
  bench_print_number("seconds", r.seconds);
  bench_print_number("bytes", r.cost.bytes);
  bench_print_number("flops", r.cost.flops);
  bench_print_number("floor_seconds", floor_seconds);
  bench_print_number("share_of_floor", floor_seconds / r.seconds);
  bench_print_number("error_against_host", r.error);
  double share = NAN;
  if (strcmp(r.name, "local_matrices") == 0) {
    const double counted = elements_make_flops(e);
    share = counted / r.seconds / roof->flops_per_second;
    bench_print_number("counted_flops", counted);
    bench_print_number("share_of_rate", share);
  }
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-15s %-14s %12.3f us  %4.2f of the floor", order, r.name, ways,
          1e6 * r.seconds, floor_seconds / r.seconds);
  if (isfinite(share)) fprintf(stderr, "  %4.2f of the rate", share);
  fprintf(stderr, "\n");
}

static void run_iteration(const bench_settings *s, const bench_machine *m, const elements_bench *e)
{
  const kg_cost apply = elements_apply_cost(e);
  measured found = {.name = "cg_iteration", .error = NAN};
  found.cost = kg_cost_plus(apply, 1, kg_cg_vectors_cost(e->b.vectors.n));
  BENCH_TRY(m->ctx, bench_iteration(&e->b, KEDGE_OPERATOR_MATRIX_FREE, s->samples,
                                    bench_floor(&m->roof, apply), &found.seconds));
  print_measured(s, &m->roof, e, found);
}

/// Returns whether the result is wrong. Operators that are not wanted make what the next ones need.
static bool run_operation(const bench_settings *s, const bench_machine *m, elements_bench *e,
                          elements_bench *host, const operation *op)
{
  const bench_work work = {op->call, NULL, e};
  measured found = {.name = op->name, .error = NAN, .cost = op->cost(e)};
  if (!bench_wants(s, op->name)) {
    BENCH_TRY(m->ctx, op->call(e));
    if (host) BENCH_TRY(m->host_ctx, op->call(host));
    return false;
  }
  if (s->profile) {
    BENCH_TRY(m->ctx, bench_profile(m->ctx, work, op->name));
    return false;
  }
  BENCH_TRY(m->ctx, bench_time(m->ctx, work, s->samples, &found.seconds));
  if (host) found.error = error_against(host, e, op);
  print_measured(s, &m->roof, e, found);
  return host && !(found.error <= error_limit);
}

static kedge_problem *problem_of(kedge_context *ctx, const bench_settings *s, int order,
                                 const char *preconditioner)
{
  kedge_problem *const problem = bench_problem(ctx, order);
  bench_set(ctx, problem, "solver", "preconditioner", preconditioner);
  bench_apply_sets(ctx, problem, s, false);
  return problem;
}

static void run_solves(const bench_settings *s, const bench_machine *m, int order)
{
  kedge_problem *const problem = problem_of(m->ctx, s, order, "multigrid");
  const bench_solves solves = bench_solve_often(m, problem, s->samples);
  bench_print_solves(solves.median.preconditioner, &solves);
  kedge_problem_destroy(problem);
}

/// How many of the operators have to run: up to the last that is wanted; the local matrices for
/// conjugate gradients.
static int operators_wanted(const bench_settings *s)
{
  int n = bench_wants(s, "cg_iteration");
  for (int i = 0; i < (int)(sizeof operations / sizeof *operations); ++i)
    if (bench_wants(s, operations[i].name)) n = i + 1;
  return n;
}

static int run_operators(const bench_settings *s, const bench_machine *m, int order)
{
  elements_bench e, host;
  elements_open(&e, m->ctx, m->mesh, problem_of(m->ctx, s, order, "jacobi"));
  if (s->check)
    elements_open(&host, m->host_ctx, m->mesh, problem_of(m->host_ctx, s, order, "jacobi"));
  int wrong = 0;
  for (int i = 0; i < operators_wanted(s); ++i)
    wrong += run_operation(s, m, &e, s->check ? &host : NULL, &operations[i]);
  if (!s->profile && bench_wants(s, "cg_iteration")) {
    BENCH_TRY(m->ctx, elements_diagonal(&e));
    run_iteration(s, m, &e);
  }
  elements_close(&e);
  if (s->check) elements_close(&host);
  return wrong;
}

static int run_order(const bench_settings *s, const bench_machine *m, int order)
{
  if (!s->profile && bench_wants(s, "solve")) run_solves(s, m, order);
  return operators_wanted(s) ? run_operators(s, m, order) : 0;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse_sets(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}

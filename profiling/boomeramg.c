// boomeramg: kedge's trace solve on the host beside that of a user who assembles: hypre's conjugate
// gradients with BoomerAMG on the same system, by as many processes.
//
//   mpiexec -n 2 boomeramg [--orders 1,3,5] [--mesh "square 224" | FILE.msh] [--samples 3]
//                          [--only jacobi,nodes-0.5] > boomeramg.json
//
// One JSON object a line: first the machine; then for each order the assembly, kedge's ways (on as
// many threads as it may use) and BoomerAMG's (boomeramg_hypre.c), all to the same residual. Of
// several samples the fastest counts (profiling/METRICS.md). Times of process 0 are kedge's; the
// others sleep meanwhile.
#include "boomeramg.h"

#include <HYPRE_utilities.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "elliptic/stages.h"

enum { MOST_ITERATIONS = 300 };
static const char tolerance_text[] = "1e-10";
static const double tolerance = 1e-10;
/// The largest distance of a converged trace from kedge's: far above what the tolerance leaves, far
/// below that of a wrong one.
static const double error_limit = 1e-6;

static const char *const kedge_ways[] = {"jacobi", "multigrid"};
enum { KEDGE_WAYS = sizeof kedge_ways / sizeof *kedge_ways };

/// What process 0 keeps, which makes the system.
typedef struct maker {
  bench_machine machine;
  kedge_problem *problem;
  kg_elliptic p;
  kedge_solution work;  ///< takes the report of the stages
  double *trace;        ///< [rows] of kedge
} maker;

static void begin_line(int order, const char *way, int samples)
{
  printf("{\"order\":%d,\"samples\":%d", order, samples);
  bench_print_text("way", way);
}

static void end_line(void)
{
  printf("}\n");
  fflush(stdout);
}

/// Bytes that are there for the trace solve alone, and of the trace.
static double trace_solve_bytes(const maker *m)
{
  kg_elliptic p = {.ctx = m->machine.ctx, .mesh = m->machine.mesh, .equation.problem = m->problem};
  BENCH_TRY(p.ctx, kg_elliptic_prepare(&p));
  kg_memory_plan(&p.shape, &p.plan, &p.arrays);
  double bytes = (double)kg_stage_bytes(&p.plan, KG_STAGE_TRACE_SOLVE);
  for (const kg_plan_entry *e = p.plan.entry; e < p.plan.entry + p.plan.n; ++e)
    if (strcmp(e->name, "x") != 0 && e->phases & KG_IN_SOLVE && e->phases & KG_IN(RECOVER))
      bytes -= (double)e->bytes;
  kg_elliptic_free(&p);
  return bytes;
}

static void keep_trace(maker *m, const kedge_solution *solution)
{
  const size_t bytes = (size_t)solution->report.trace_unknowns * sizeof *m->trace;
  free(m->trace);
  BENCH_TRY(m->machine.ctx, kg_host_alloc(m->machine.ctx, bytes, 1, &m->trace));
  memcpy(m->trace, solution->trace, bytes);
}

/// Set-up of the preconditioner, which is part of both stages, and the iterations.
static double own_seconds(const kedge_report *r)
{
  return r->stages[KG_STAGE_ASSEMBLY].seconds + r->stages[KG_STAGE_TRACE_SOLVE].seconds;
}

static void run_kedge(maker *m, const bench_settings *settings, const char *way)
{
  kedge_context *ctx = m->machine.ctx;
  bench_set(ctx, m->problem, "solver", "preconditioner", way);
  kedge_report best = {.stages[KG_STAGE_TRACE_SOLVE].seconds = INFINITY};
  for (int i = 0; i < settings->samples; ++i) {
    kedge_solution *solution;
    kedge_report report = KEDGE_REPORT_INIT;
    BENCH_TRY(ctx, kedge_solve(ctx, m->machine.mesh, m->problem, &solution));
    kedge_solution_report(solution, &report);
    if (own_seconds(&report) < own_seconds(&best)) best = report;
    if (i == 0) keep_trace(m, solution);
    kedge_solution_destroy(solution);
  }
  begin_line(best.order, way, settings->samples);
  bench_print_number("local_matrices_seconds", best.stages[KG_STAGE_LOCAL_MATRICES].seconds);
  bench_print_number("set_up_seconds", best.setup_seconds);
  bench_print_number("solve_seconds", own_seconds(&best) - best.setup_seconds);
  bench_print_number("iterations", (double)best.iterations);
  bench_print_number("relative_residual", best.relative_residual);
  bench_print_number("bytes", trace_solve_bytes(m));
  end_line();
}

static void run_stage(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *))
{
  BENCH_TRY(p->ctx, kg_run_begin(&p->run, stage));
  BENCH_TRY(p->ctx, kg_run_end(&p->run, work(p)));
}

/// The stages of kedge up to the assembled matrix.
static system_source assemble(maker *m, int order)
{
  kedge_context *ctx = m->machine.ctx;
  bench_set(ctx, m->problem, "solver", "preconditioner", "jacobi");
  bench_set(ctx, m->problem, "solver", "operator", "ell");
  m->p = (kg_elliptic){.ctx = ctx,
                       .mesh = m->machine.mesh,
                       .equation.problem = m->problem,
                       .run.solution = &m->work};
  BENCH_TRY(ctx, kg_elliptic_prepare(&m->p));
  kg_memory_plan(&m->p.shape, &m->p.plan, &m->p.arrays);
  run_stage(&m->p, KG_STAGE_TRANSFER, kg_stage_transfer);
  run_stage(&m->p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices);
  run_stage(&m->p, KG_STAGE_ASSEMBLY, kg_stage_assembly);
  const kg_arrays *buffer = &m->p.arrays;
  system_source source = {kg_ell_shape(m->p.shape.m, &m->p.shape.count), buffer->b};
  source.ell.column = buffer->ell_column;
  source.ell.value = buffer->ell_value;
  const kedge_stage_report *stages = m->work.report.stages;
  begin_line(order, "assembly", 1);
  bench_print_number("rows", (double)source.ell.rows);
  bench_print_number("local_matrices_seconds", stages[KG_STAGE_LOCAL_MATRICES].seconds);
  bench_print_number("assembly_seconds", stages[KG_STAGE_ASSEMBLY].seconds);
  end_line();
  return source;
}

/// Distance of the system's solution from kedge's; NaN without one.
static double error_of(const shared_system *s, bool nodes, const maker *m)
{
  if (m->trace == NULL) return NAN;
  double *modes = s->x, sum = 0.0, norm = 0.0;
  if (nodes) {
    BENCH_TRY(m->machine.ctx,
              kg_host_alloc(m->machine.ctx, (size_t)s->rows, sizeof *modes, &modes));
    system_modes_of(s, s->x, modes);
  }
  for (int64_t i = 0; i < s->rows; ++i) {
    sum += (modes[i] - m->trace[i]) * (modes[i] - m->trace[i]);
    norm += m->trace[i] * m->trace[i];
  }
  if (nodes) free(modes);
  return sqrt(sum / norm);
}

static double total(const boomeramg_result *r)
{
  return r->matrix_seconds + r->set_up_seconds + r->solve_seconds;
}

static void print_way(const boomeramg_result *r, double error)
{
  bench_print_number("matrix_seconds", r->matrix_seconds);
  bench_print_number("set_up_seconds", r->set_up_seconds);
  bench_print_number("solve_seconds", r->solve_seconds);
  bench_print_number("iterations", (double)r->iterations);
  bench_print_number("relative_residual", r->relative_residual);
  bench_print_number("bytes", r->bytes);
  bench_print_number("levels", r->levels);
  bench_print_number("operator_complexity", r->operator_complexity);
  bench_print_number("error_against_kedge", error);
  end_line();
}

/// Returns true when the solution is wrong. `m` is NULL but in process 0.
static bool run_way(shared_system *s, const bench_settings *settings, const boomeramg_way *way,
                    const maker *m)
{
  boomeramg_result best = {.solve_seconds = INFINITY};
  for (int i = 0; i < settings->samples; ++i) {
    const boomeramg_result r = boomeramg_solve(s, way, tolerance, MOST_ITERATIONS);
    if (total(&r) < total(&best)) best = r;
  }
  if (m == NULL) return false;
  const double error = error_of(s, way->nodes, m);
  begin_line(s->order, way->name, settings->samples);
  print_way(&best, error);
  const bool converged = !(best.relative_residual > tolerance);
  return m->trace && converged && !(error <= error_limit);
}

static int run_order(const bench_settings *settings, int order, maker *m)
{
  system_source source = {0};
  if (m) {
    m->problem = bench_problem(m->machine.ctx, order);
    bench_set(m->machine.ctx, m->problem, "solver", "tolerance", tolerance_text);
    for (int i = 0; i < KEDGE_WAYS; ++i)
      if (bench_wants(settings, kedge_ways[i])) run_kedge(m, settings, kedge_ways[i]);
    source = assemble(m, order);
  }
  wait_quietly();
  shared_system s;
  system_open(&s, &source, order);
  if (m) kg_elliptic_free(&m->p);
  bool nodes = false;
  int wrong = 0;
  for (const boomeramg_way *way = boomeramg_ways; way < boomeramg_ways + boomeramg_way_count;
       ++way) {
    if (!bench_wants(settings, way->name)) continue;
    if (way->nodes && !nodes) system_to_nodes(&s);
    nodes = way->nodes;
    wrong += run_way(&s, settings, way, m);
  }
  system_close(&s);
  if (m) {
    kedge_problem_destroy(m->problem);
    free(m->trace);
    m->trace = NULL;
  }
  return wrong;
}

static void print_machine(const bench_settings *settings, maker *m)
{
  int processes;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  bench_machine_open(settings, &m->machine);
  bench_print_machine(settings, &m->machine);
  bench_print_number("processes", processes);
  bench_print_number("hypre", HYPRE_RELEASE_NUMBER);
  bench_print_number("tolerance", tolerance);
  bench_print_number("most_iterations", MOST_ITERATIONS);
  end_line();
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bench_settings settings = bench_parse(argc, argv, KEDGE_BACKEND_HOST);
  maker all = {0}, *const m = rank == 0 ? &all : NULL;
  if (m) print_machine(&settings, m);
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    if (settings.orders[order]) wrong += run_order(&settings, order, m);
  if (m) bench_machine_close(&m->machine);
  if (wrong) fprintf(stderr, "boomeramg: %d solutions differ from kedge's\n", wrong);
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  HYPRE_Finalize();
  MPI_Finalize();
  return wrong ? 1 : 0;
}

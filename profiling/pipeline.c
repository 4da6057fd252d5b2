// pipeline: whole solves of King's problem in one process, from the mesh in host memory to u, q, u*
// in device memory: what is left when CUDA, the library and the allocator's memory are there.
//
//   pipeline [--mesh "square 80"] [--orders 1-9] [--samples 11] [--backend host|cuda]
//            [--only jacobi,multigrid,mixed] > pipeline.json
//
// One JSON object a line: the machine, then one for each order and way to precondition. A sample is
// a solve; the line has the stages of the one whose time from local matrices to u* is the median,
// and of the first solve of the line `first_seconds`. `mixed`: multigrid, precision = mixed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/stage.h"

typedef struct preparation {
  const char *name, *preconditioner, *precision;
} preparation;

static const preparation preparations[] = {{"jacobi", "jacobi", "double"},
                                           {"multigrid", "multigrid", "double"},
                                           {"mixed", "multigrid", "mixed"}};

/// Seconds from the mesh on the device to u, q, u* there: King's B1 to B6 and post-processing.
static double whole(const kedge_report *r)
{
  double seconds = 0.0;
  for (int stage = KG_STAGE_LOCAL_MATRICES; stage <= KG_STAGE_POSTPROCESS; ++stage)
    seconds += r->stages[stage].seconds;
  return seconds;
}

static int by_whole(const void *a, const void *b)
{
  const double x = whole(a), y = whole(b);
  return (x > y) - (x < y);
}

static kedge_problem *problem_of(kedge_context *ctx, int order, preparation how)
{
  kedge_problem *problem;
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  BENCH_TRY(ctx, kedge_problem_create(ctx, &problem));
  bench_set(ctx, problem, "space", "order", text);
  bench_set(ctx, problem, "equation", "reaction", "1");
  bench_set(ctx, problem, "boundary default", "type", "dirichlet");
  bench_set(ctx, problem, "exact", "u", "sin(2*pi*x)*sin(2*pi*y)");
  bench_set(ctx, problem, "solver", "preconditioner", how.preconditioner);
  bench_set(ctx, problem, "solver", "precision", how.precision);
  return problem;
}

static kedge_report solve_once(const bench_machine *m, const kedge_problem *problem)
{
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  BENCH_TRY(m->ctx, kedge_solve(m->ctx, m->mesh, problem, &solution));
  kedge_solution_report(solution, &report);
  report.evaluation = report.solver_note = NULL;  // of the solution
  kedge_solution_destroy(solution);
  return report;
}

static void print(const char *name, const kedge_report *first, const kedge_report *r, int samples)
{
  printf("{\"order\":%d,\"elements\":%lld,\"samples\":%d,\"iterations\":%lld,\"converged\":%s",
         r->order, (long long)r->elements, samples, (long long)r->iterations,
         r->converged ? "true" : "false");
  bench_print_text("preconditioner", name);
  bench_print_number("seconds", whole(r));
  bench_print_number("first_seconds", whole(first));
  bench_print_number("setup_seconds", r->setup_seconds);
  bench_print_number("u_star_l2", r->u_star_l2);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    bench_print_number(kg_stage_name(stage), r->stages[stage].seconds);
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-9s %8.3f ms (first %8.3f), %lld iterations:", r->order, name,
          1e3 * whole(r), 1e3 * whole(first), (long long)r->iterations);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    fprintf(stderr, " %.3f", 1e3 * r->stages[stage].seconds);
  fprintf(stderr, "\n");
}

static int run_order(const bench_settings *settings, const bench_machine *m, int order)
{
  kedge_report samples[BENCH_SAMPLES_MAX];
  for (size_t i = 0; i < sizeof preparations / sizeof *preparations; ++i) {
    if (!bench_wants(settings, preparations[i].name)) continue;
    kedge_problem *problem = problem_of(m->ctx, order, preparations[i]);
    const kedge_report first = solve_once(m, problem);
    for (int k = 0; k < settings->samples; ++k) samples[k] = solve_once(m, problem);
    qsort(samples, (size_t)settings->samples, sizeof *samples, by_whole);
    print(preparations[i].name, &first, &samples[settings->samples / 2], settings->samples);
    kedge_problem_destroy(problem);
  }
  return 0;
}

int main(int argc, char **argv)
{
  return bench_run(argc, argv, KEDGE_BACKEND_AUTO, run_order);
}

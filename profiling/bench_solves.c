// Whole solves, one after the other in one process.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "elliptic/stages.h"

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

/// @param[out] evaluation  who evaluated functions; "" where nobody did
static kedge_report solve_once(const bench_machine *m, const kedge_problem *problem,
                               char evaluation[BENCH_TEXT])
{
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  BENCH_TRY(m->ctx, kedge_solve(m->ctx, m->mesh, problem, &solution));
  kedge_solution_report(solution, &report);
  snprintf(evaluation, BENCH_TEXT, "%s", report.evaluation ? report.evaluation : "");
  report.evaluation = report.solver_note = NULL;  // of the solution
  kedge_solution_destroy(solution);
  return report;
}

bench_solves bench_solve_often(const bench_machine *m, const kedge_problem *problem, int samples)
{
  kedge_report reports[BENCH_SAMPLES_MAX];
  bench_solves out = {.samples = samples};
  out.first = solve_once(m, problem, out.evaluation);
  for (int k = 0; k < samples; ++k) reports[k] = solve_once(m, problem, out.evaluation);
  qsort(reports, (size_t)samples, sizeof *reports, by_whole);
  out.median = reports[samples / 2];
  return out;
}

void bench_print_solves(const char *name, const bench_solves *solves)
{
  const kedge_report *const r = &solves->median;
  const double first = whole(&solves->first), seconds = whole(r);
  printf("{\"order\":%d,\"elements\":%lld,\"samples\":%d,\"iterations\":%lld,\"converged\":%s",
         r->order, (long long)r->elements, solves->samples, (long long)r->iterations,
         r->converged ? "true" : "false");
  bench_print_text("preconditioner", name);
  bench_print_text("evaluation", solves->evaluation);
  bench_print_number("seconds", seconds);
  bench_print_number("first_seconds", first);
  bench_print_number("setup_seconds", r->setup_seconds);
  bench_print_number("u_star_l2", r->u_star_l2);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    bench_print_number(kg_stage_name(stage), r->stages[stage].seconds);
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-9s %8.3f ms (first %8.3f), %lld iterations:", r->order, name,
          1e3 * seconds, 1e3 * first, (long long)r->iterations);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    fprintf(stderr, " %.3f", 1e3 * r->stages[stage].seconds);
  fprintf(stderr, "\n");
}

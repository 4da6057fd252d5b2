// many: the trace solve of several right-hand sides at once against that of one.
//
//   many BACKEND SQUARES ORDERS COUNT [PRECISION] > many.json
//
// One JSON object a line and order: medians of COUNT of `one`, seconds of the trace solve of one
// right-hand side in a kedge_solver, and `at_once`, of all KG_VECTORS of them by one
// kedge_solver_solve_many(), and their ratio; `one_whole` and `at_once_whole` of the whole calls;
// iterations; bytes of device memory; in double precision `least_ratio`, that of the bytes that are
// moved. Sources are formulas, results means of the elements.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "kedge/kedge.h"
#include "ops/pass.h"

enum { MOST = 64, K = KG_VECTORS };

static kedge_context *ctx;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double of_trace(const kedge_solution *solution, kedge_report *report, double *bytes)
{
  *report = (kedge_report)KEDGE_REPORT_INIT;
  kedge_solution_report(solution, report);
  for (size_t i = 0; i < sizeof report->stages / sizeof *report->stages; ++i)
    if (report->stages[i].name && strcmp(report->stages[i].name, "trace_solve") == 0) {
      *bytes = report->stages[i].bytes;
      return report->stages[i].seconds;
    }
  return 0.0;
}

/// The ratio of bytes of K solves at once to those of one, of this report. Matrices count once: K^e
/// of two products an iteration and of three for residuals, the blocks of two smoothings. Two of
/// the passes over vectors are made on the way of others (ops/vector/pcg_many.h). The coarse solver
/// is left out of both.
static double least_ratio(const kedge_report *one, double bytes)
{
  const double m = one->order + 1, edges = (double)one->trace_unknowns / m;
  const double blocks = edges * m * (m + 1.0) / 2.0 * sizeof(float), vector = 8.0 * edges * m;
  const double n = (double)one->iterations;
  const double shared = (2.0 * n + 3.0) * (double)one->local_matrices_bytes + 2.0 * n * blocks;
  return (shared + K * (bytes - shared - 2.0 * n * vector)) / bytes;
}

static void run_order(const kedge_mesh *mesh, const char *order, const char *precision, int count)
{
  static const char *const sources[K] = {"sin(3*x)*y", "exp(x)", "x*y + 1", "cos(2*x + y)"};
  kedge_problem *problem = bench_problem(ctx, atoi(order));
  bench_set(ctx, problem, "solver", "preconditioner", "multigrid");
  bench_set(ctx, problem, "solver", "precision", precision);
  bench_set(ctx, problem, "output", "fields", "cells");
  kedge_solver *solver;
  BENCH_TRY(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  kedge_data data[K];
  const kedge_data *each[K];
  kedge_solution *solutions[K] = {NULL};
  for (int v = 0; v < K; ++v) {
    data[v] = (kedge_data)KEDGE_DATA_INIT;
    data[v].source = sources[v];
    each[v] = &data[v];
  }
  double one[MOST], at_once[MOST], one_whole[MOST], at_once_whole[MOST];
  double bytes = 0.0, least = 0.0;
  int64_t iterations[2] = {0, 0};
  kedge_report report;
  for (int i = -1; i < count; ++i) {  // the first loads kernels
    const int at = i < 0 ? 0 : i;
    double began = seconds();
    one[at] = iterations[0] = 0;
    for (int v = 0; v < K; ++v) {
      BENCH_TRY(ctx, kedge_solver_solve(solver, each[v], &solutions[v]));
      one[at] += of_trace(solutions[v], &report, &bytes) / K;
      iterations[0] += report.iterations;
      least = least_ratio(&report, bytes);
    }
    one_whole[at] = (seconds() - began) / K;
    began = seconds();
    at_once[at] = iterations[1] = 0;
    BENCH_TRY(ctx, kedge_solver_solve_many(solver, K, each, solutions));
    at_once_whole[at] = seconds() - began;
    for (int v = 0; v < K; ++v) {
      at_once[at] += of_trace(solutions[v], &report, &bytes);
      iterations[1] += report.iterations;
    }
  }
  const double a = bench_median(one, count), b = bench_median(at_once, count);
  const double c = bench_median(one_whole, count), d = bench_median(at_once_whole, count);
  printf(
      "{\"device\":\"%s\",\"elements\":%d,\"order\":%s,\"precision\":\"%s\",\"one\":%.9g,"
      "\"at_once\":%.9g,\"ratio\":%.4g,\"one_whole\":%.9g,\"at_once_whole\":%.9g,\"ratio_whole\":"
      "%.4g,\"iterations\":[%lld,%lld],\"peak_bytes\":%lld",
      kedge_context_device(ctx), mesh->n_elements, order, precision, a, b, b / a, c, d, d / c,
      (long long)iterations[0], (long long)iterations[1], (long long)report.peak_device_bytes);
  if (strcmp(precision, "double") == 0) printf(",\"least_ratio\":%.4g", least);
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%s %d elements, %s: one %.3f ms, %d at once %.3f ms: %.2f; whole %.2f\n", order,
          mesh->n_elements, precision, 1e3 * a, K, 1e3 * b, b / a, d / c);
  for (int v = 0; v < K; ++v) kedge_solution_destroy(solutions[v]);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
}

int main(int argc, char **argv)
{
  if (argc < 5 || atoi(argv[4]) < 1 || atoi(argv[4]) > MOST) {
    fprintf(stderr, "usage: many host|cuda SQUARES ORDERS COUNT [double|mixed]\n");
    return 2;
  }
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = strcmp(argv[1], "cuda") == 0 ? KEDGE_BACKEND_CUDA : KEDGE_BACKEND_HOST;
  BENCH_TRY(NULL, kedge_context_create(&options, &ctx));
  char words[64];
  snprintf(words, sizeof words, "square %.20s", argv[2]);
  kedge_mesh *mesh;
  BENCH_TRY(ctx, kedge_mesh_generate(ctx, words, &mesh));
  for (char *order = strtok(argv[3], ","); order; order = strtok(NULL, ","))
    run_order(mesh, order, argc > 5 ? argv[5] : "double", atoi(argv[4]));
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return 0;
}

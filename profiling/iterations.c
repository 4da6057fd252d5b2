// iterations: what an iteration of conjugate gradients and a whole trace solve take on small
// problems, in one resident kernel (ops/trace/cg_resident.h) and in the ordinary loop.
//
//   iterations [--mesh "square 20" | FILE.msh] [--orders 1-9] [--samples 21] [--backend host|cuda]
//              [--no-check] > iterations.json
//
// One JSON object a line: first the machine, then one for each order and form. An iteration is the
// difference of solves of 64 and of 192 iterations; `solve_seconds` is a solve to 1e-12 from x = 0.
// `error_against_host` compares x with the host's, both solved to 1e-14; exit code 1 where it is
// wrong.
#include <math.h>
#include <stdio.h>

#include "bench.h"

/// An x is known to a tolerance times the condition of A; one that is further away is wrong.
static const double error_limit = 1e-9;

static bench_solve solve_of(const bench *b, bool resident, double tolerance, int64_t most)
{
  return (bench_solve){.b = b,
                       .kind = KEDGE_OPERATOR_MATRIX_FREE,
                       .resident = resident,
                       .tolerance = tolerance,
                       .most = most};
}

static double seconds_of(bench_solve s, const bench_settings *settings)
{
  double seconds;
  const bench_work work = {bench_call_solve, NULL, &s};
  BENCH_TRY(s.b->p.ctx, bench_time(s.b->p.ctx, work, settings->samples, &seconds));
  return seconds;
}

/// Distance of x from the host's.
static double error_of(const bench *b, bench *host, bool resident)
{
  bench_solve s = solve_of(b, resident, 1e-14, INT64_MAX);
  bench_solve t = solve_of(host, false, 1e-14, INT64_MAX);
  BENCH_TRY(b->p.ctx, bench_call_solve(&s));
  BENCH_TRY(host->p.ctx, bench_call_solve(&t));
  double error;
  BENCH_TRY(b->p.ctx, bench_difference(b->p.ctx, b->vectors.x, host->vectors.x,
                                       (size_t)b->vectors.n, &error));
  return error;
}

/// Returns true when the solution is wrong.
static bool run_form(const bench_settings *settings, const bench *b, bench *host, bool resident)
{
  bench_solve s = solve_of(b, resident, 1e-12, INT64_MAX);
  BENCH_TRY(b->p.ctx, bench_call_solve(&s));
  const double whole = seconds_of(s, settings);
  const double few = seconds_of(solve_of(b, resident, 0.0, 64), settings);
  const double many = seconds_of(solve_of(b, resident, 0.0, 192), settings);
  const double error = settings->check ? error_of(b, host, resident) : NAN;
  const int order = b->p.shape.size.order;
  printf("{\"order\":%d,\"elements\":%d,\"samples\":%d,\"iterations\":%lld", order,
         b->p.mesh->n_elements, settings->samples, (long long)s.did.iterations);
  bench_print_text("form", resident ? "resident" : "ordinary");
  bench_print_number("iteration_seconds", (many - few) / 128.0);
  bench_print_number("solve_seconds", whole);
  bench_print_number("error_against_host", error);
  printf("}\n");
  fprintf(stderr, "P%-2d %s %8.3f us an iteration, %8.3f ms for %lld, error %.1e\n", order,
          resident ? "resident" : "ordinary", 1e6 * (many - few) / 128.0, 1e3 * whole,
          (long long)s.did.iterations, error);
  return settings->check && !(error <= error_limit);
}

/// What a solve has before its trace solve.
static void open_order(bench *b, kedge_context *ctx, const kedge_mesh *mesh, int order)
{
  bench_open(b, ctx, mesh, order);
  BENCH_TRY(ctx, kg_local_matrices(ctx, &b->local_matrices));
  BENCH_TRY(ctx, kg_facet_diagonal(ctx, &b->diagonal));
}

static int run_order(const bench_settings *settings, const bench_machine *m, int order)
{
  bench b, host;
  open_order(&b, m->ctx, m->mesh, order);
  if (settings->check) open_order(&host, m->host_ctx, m->mesh, order);
  int wrong = run_form(settings, &b, &host, false);
  if (b.p.arrays.iteration.method.cg.work) wrong += run_form(settings, &b, &host, true);
  if (settings->check) bench_close(&host);
  bench_close(&b);
  return wrong;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}

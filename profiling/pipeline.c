// pipeline: whole solves of King's problem in one process, from the mesh in host memory to u, q, u*
// in device memory: what is left when CUDA, the library and the allocator's memory are there.
//
//   pipeline [--mesh "square 80"] [--orders 1-9] [--samples 11] [--backend host|cuda]
//            [--only jacobi,multigrid,mixed] > pipeline.json
//
// One JSON object a line: the machine, then one for each order and way to precondition. A sample is
// a solve; the line has the stages of the one whose time from local matrices to u* is the median,
// and of the first solve of the line `first_seconds`. `mixed`: multigrid, precision = mixed.
#include "bench.h"
#include "king.h"

typedef struct preparation {
  const char *name, *preconditioner, *precision;
} preparation;

static const preparation preparations[] = {{"jacobi", "jacobi", "double"},
                                           {"multigrid", "multigrid", "double"},
                                           {"mixed", "multigrid", "mixed"}};

static kedge_problem *problem_of(kedge_context *ctx, int order, preparation how)
{
  kedge_problem *problem = king_problem(ctx, order);
  bench_set(ctx, problem, "solver", "preconditioner", how.preconditioner);
  bench_set(ctx, problem, "solver", "precision", how.precision);
  return problem;
}

static int run_order(const bench_settings *settings, const bench_machine *m, int order)
{
  for (size_t i = 0; i < sizeof preparations / sizeof *preparations; ++i) {
    if (!bench_wants(settings, preparations[i].name)) continue;
    kedge_problem *problem = problem_of(m->ctx, order, preparations[i]);
    const bench_solves solves = bench_solve_often(m, problem, settings->samples);
    bench_print_solves(preparations[i].name, &solves);
    kedge_problem_destroy(problem);
  }
  return 0;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}

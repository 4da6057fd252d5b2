// repeat: one problem, set up once and solved again, against a fresh kedge_solve() each time.
//
//   repeat BACKEND SQUARES ORDER COUNT > repeat.json
//
// One JSON object with seconds a call, means of COUNT calls: `fresh` kedge_solve(), `again` a
// kedge_solver that makes each solution, `over` one that overwrites it, `update` of a coefficient;
// and `set_up`, of one kedge_solver_create(). Each solve has another source, as text.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kedge/kedge.h"

static kedge_context *ctx;

static void must(kedge_status status)
{
  if (status == KEDGE_OK) return;
  fprintf(stderr, "repeat: %s\n", kedge_context_error(ctx));
  exit(1);
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// The source of solve i: another formula each time, of the same cost.
static const char *source_of(int i)
{
  static char text[64];
  snprintf(text, sizeof text, "sin(%g*x)*y + 1", 1.0 + 1e-3 * i);
  return text;
}

static kedge_problem *make_problem(const char *order)
{
  static const char *const side[] = {"left", "right", "bottom", "top"};
  kedge_problem *problem;
  must(kedge_problem_create(ctx, &problem));
  must(kedge_problem_set(problem, "space", "order", order));
  must(kedge_problem_set(problem, "equation", "source", source_of(0)));
  for (int i = 0; i < 4; ++i) {
    char section[32];
    snprintf(section, sizeof section, "boundary %s", side[i]);
    must(kedge_problem_set(problem, section, "type", "dirichlet"));
    must(kedge_problem_set(problem, section, "value", "0"));
  }
  return problem;
}

static double time_fresh(const kedge_mesh *mesh, kedge_problem *problem, int count)
{
  const double began = seconds();
  for (int i = 0; i < count; ++i) {
    kedge_solution *solution;
    must(kedge_problem_set(problem, "equation", "source", source_of(i)));
    must(kedge_solve(ctx, mesh, problem, &solution));
    kedge_solution_destroy(solution);
  }
  return (seconds() - began) / count;
}

static double time_again(kedge_solver *solver, int count, bool over)
{
  kedge_solution *solution = NULL;
  const double began = seconds();
  for (int i = 0; i < count; ++i) {
    kedge_data data = KEDGE_DATA_INIT;
    data.source = source_of(i);
    must(kedge_solver_solve(solver, &data, &solution));
    if (over) continue;
    kedge_solution_destroy(solution);
    solution = NULL;
  }
  const double time = (seconds() - began) / count;
  kedge_solution_destroy(solution);
  return time;
}

static double time_update(kedge_solver *solver, kedge_problem *problem, int count)
{
  const double began = seconds();
  for (int i = 0; i < count; ++i) {
    must(kedge_problem_set(problem, "equation", "diffusion", i % 2 ? "1" : "2"));
    must(kedge_solver_update(solver));
  }
  return (seconds() - began) / count;
}

int main(int argc, char **argv)
{
  if (argc != 5 || atoi(argv[4]) < 1) {
    fprintf(stderr, "usage: repeat host|cuda SQUARES ORDER COUNT\n");
    return 2;
  }
  const int count = atoi(argv[4]);
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = strcmp(argv[1], "cuda") == 0 ? KEDGE_BACKEND_CUDA : KEDGE_BACKEND_HOST;
  must(kedge_context_create(&options, &ctx));
  char words[64];
  snprintf(words, sizeof words, "square %.20s", argv[2]);
  kedge_mesh *mesh;
  must(kedge_mesh_generate(ctx, words, &mesh));
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(kedge_mesh_get_info(mesh, &info));
  kedge_problem *problem = make_problem(argv[3]);
  (void)time_fresh(mesh, problem, 1);  // loads kernels
  const double fresh = time_fresh(mesh, problem, count), began = seconds();
  kedge_solver *solver;
  must(kedge_solver_create(ctx, mesh, problem, &solver));
  const double set_up = seconds() - began;
  (void)time_again(solver, 3, true);
  printf(
      "{\"device\":\"%s\",\"elements\":%lld,\"order\":%s,\"count\":%d,\"fresh\":%.9g,"
      "\"set_up\":%.9g,\"again\":%.9g",
      kedge_context_device(ctx), (long long)info.elements, argv[3], count, fresh, set_up,
      time_again(solver, count, false));
  printf(",\"over\":%.9g,\"update\":%.9g}\n", time_again(solver, count, true),
         time_update(solver, problem, count));
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return 0;
}

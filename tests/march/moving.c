#include "moving.h"

moving moving_of(const setting *settings, const char *scheme, double end, int steps)
{
  moving m = {.ctx = open_backend(test_backend(), 2)};
  char end_text[32], steps_text[32];
  snprintf(end_text, sizeof end_text, "%.17g", end);
  snprintf(steps_text, sizeof steps_text, "%d", steps);
  m.problem = problem_of(m.ctx, settings);
  must(m.ctx, kedge_problem_set(m.problem, "time", "end", end_text));
  must(m.ctx, kedge_problem_set(m.problem, "time", "steps", steps_text));
  must(m.ctx, kedge_problem_set(m.problem, "time", "scheme", scheme));
  must(m.ctx, kedge_problem_mesh(m.problem, &m.mesh));
  must(m.ctx, kedge_march_create(m.ctx, m.mesh, m.problem, &m.march));
  return m;
}

void moving_free(moving *m)
{
  kedge_march_destroy(m->march);
  kedge_problem_destroy(m->problem);
  kedge_mesh_destroy(m->mesh);
  kedge_context_destroy(m->ctx);
}

void march_on(const moving *m)
{
  while (!kedge_march_ended(m->march)) must(m->ctx, kedge_march_step(m->march));
}

kedge_report report_now(const moving *m)
{
  const kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  must(m->ctx, kedge_march_solution(m->march, &solution));
  must(m->ctx, kedge_solution_report(solution, &report));
  return report;
}

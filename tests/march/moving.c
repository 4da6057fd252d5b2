#include "moving.h"

int moving_threads;

static moving of_length(const setting *settings, const char *scheme, double end, const char *key,
                        double length)
{
  moving m = {
      .ctx = open_backend(test_backend(), moving_threads > 0 ? moving_threads : test_threads())};
  char end_text[32], length_text[32];
  snprintf(end_text, sizeof end_text, "%.17g", end);
  snprintf(length_text, sizeof length_text, "%.17g", length);
  m.problem = problem_of(m.ctx, settings);
  must(m.ctx, kedge_problem_set(m.problem, "time", "end", end_text));
  must(m.ctx, kedge_problem_set(m.problem, "time", key, length_text));
  must(m.ctx, kedge_problem_set(m.problem, "time", "scheme", scheme));
  must(m.ctx, kedge_problem_mesh(m.problem, &m.mesh));
  must(m.ctx, kedge_march_create(m.ctx, m.mesh, m.problem, &m.march));
  return m;
}

moving moving_of(const setting *settings, const char *scheme, double end, int steps)
{
  return of_length(settings, scheme, end, "steps", steps);
}

moving adapting_of(const setting *settings, double end, double tolerance)
{
  return of_length(settings, "esdirk4", end, "tolerance", tolerance);
}

kedge_marched marched_now(const moving *m)
{
  kedge_marched marched = KEDGE_MARCHED_INIT;
  must(m->ctx, kedge_march_report(m->march, &marched));
  return marched;
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

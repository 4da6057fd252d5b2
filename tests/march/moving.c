#include "moving.h"

/// @param[in] initial  NULL: u of [exact]
static moving begin(const setting *settings, const kg_march_settings *march,
                    const kg_function *initial)
{
  moving m = {.ctx = open_backend(test_backend(), 2)};
  m.problem = problem_of(m.ctx, settings);
  must(m.ctx, kedge_problem_mesh(m.problem, &m.mesh));
  must(m.ctx, kg_march_create(m.ctx, m.mesh, m.problem, march,
                              initial ? initial : &m.problem->exact_u, &m.march));
  return m;
}

moving moving_of(const setting *settings, const kg_tableau *scheme, double end, int steps)
{
  const kg_march_settings march = {.end = end, .step = end / steps, .scheme = scheme};
  return begin(settings, &march, NULL);
}

moving moving_from(const setting *settings, const kg_march_settings *march, double u)
{
  const kg_function initial = {.kind = KG_FUNCTION_CONSTANT, .constant = u};
  return begin(settings, march, &initial);
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

// A program outside kedge: solves -div grad u = 4 with u = 1 - x^2 - y^2 on the boundary. Order 2
// holds this solution, so that it has to come out to rounding.
#include <kedge/kedge.h>

#include <math.h>
#include <stdio.h>

static kedge_status describe(kedge_problem *problem)
{
  static const char *const settings[][3] = {
      {"space", "order", "2"},
      {"exact", "u", "1 - x^2 - y^2"},
      {"boundary inner", "type", "dirichlet"},
      {"boundary outer", "type", "dirichlet"},
      {"solver", "tolerance", "1e-13"},
  };
  kedge_status status = KEDGE_OK;
  for (size_t i = 0; status == KEDGE_OK && i < sizeof settings / sizeof *settings; ++i)
    status = kedge_problem_set(problem, settings[i][0], settings[i][1], settings[i][2]);
  return status;
}

int main(void)
{
  kedge_context *ctx = NULL;
  kedge_mesh *mesh = NULL;
  kedge_problem *problem = NULL;
  kedge_solution *solution = NULL;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  kedge_status status = kedge_context_create(&options, &ctx);
  if (status == KEDGE_OK) status = kedge_mesh_generate(ctx, "ring 3 16", &mesh);
  if (status == KEDGE_OK) status = kedge_problem_create(ctx, &problem);
  if (status == KEDGE_OK) status = describe(problem);
  if (status == KEDGE_OK) status = kedge_solve(ctx, mesh, problem, &solution);
  int result = 1;
  if (status == KEDGE_OK) {
    kedge_report report = KEDGE_REPORT_INIT;
    kedge_solution_report(solution, &report);
    printf("kedge %s, %s: error of u %g\n", kedge_version(), report.device, report.u_l2);
    result = report.converged && report.u_l2 < 1e-11 ? 0 : 1;
  } else {
    printf("%s: %s\n", kedge_status_text(status), kedge_context_error(ctx));
  }
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return result;
}

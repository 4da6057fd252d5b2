#include <kedge/waves.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march.h"

typedef struct solve_options {
  kg_cli_problem from;
  const char *output, *picture;
} solve_options;

enum { PICTURE = 256, CHECKPOINT, RESUME };  // options without a letter

static error_t parse(int key, char *text, struct argp_state *state)
{
  solve_options *options = state->input;
  if (key == PICTURE) {
    options->picture = text;
    return 0;
  }
  if (key == CHECKPOINT) options->from.checkpoint = text;
  if (key == RESUME) options->from.resume = kg_cli_input(state, text);
  if (key == CHECKPOINT || key == RESUME) return 0;
  if (key != 'o') return kg_cli_parse_problem(key, text, state, &options->from);
  options->output = text;
  return 0;
}

static const struct argp_option options_list[] = {
    {"output", 'o', "FILE", 0, "Write the fields here instead of to the [output] file", 0},
    {"picture", PICTURE, "FILE.png", 0,
     "Draw u*, of waves E or p, by the Python package and matplotlib", 0},
    {"checkpoint", CHECKPOINT, "FILE", 0,
     "With [time]: write here at each output, each minute, and when Ctrl-C or SIGTERM ends the "
     "run, "
     "what it takes to go on",
     0},
    {"resume", RESUME, "FILE", 0, "Go on from a checkpoint, to the same numbers", 0},
    {"report", 'r', "FILE.json", 0, "Write the report of the solve as JSON", 0},
    {"quiet", 'q', NULL, 0, "Print nothing but errors", 0},
    {0}};
static const struct argp argp = {options_list,
                                 parse,
                                 "PROBLEM.ini",
                                 "Solve a problem (see 'kedge help problem').",
                                 kg_cli_problem_children,
                                 NULL,
                                 NULL};

int kg_cli_task_fail(const kg_cli_task *r, kedge_status status, bool reads_input)
{
  if (r->line) kg_progress_clear(r->line);
  return kg_cli_fail(r->ctx, status, reads_input);
}

/// The sections [integral NAME] of the problem, which the mesh may not fit. Returns an exit code.
static int make_integrals(kg_cli_task *r)
{
  int n = 0;
  while (kedge_problem_integral(r->problem, n)) ++n;
  r->integrals = calloc((size_t)n + 1, sizeof *r->integrals);
  r->values = calloc((size_t)n + 1, sizeof *r->values);
  r->listed = calloc((size_t)n + 1, sizeof *r->listed);
  if (!r->integrals || !r->values || !r->listed) {
    if (r->line) kg_progress_clear(r->line);
    return kg_cli_no_memory();
  }
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.problem = r->problem;
  for (; r->n_integrals < n; ++r->n_integrals) {
    kedge_integral_value *const value = &r->values[r->n_integrals];
    *value = (kedge_integral_value)KEDGE_INTEGRAL_VALUE_INIT;
    options.name = value->name = kedge_problem_integral(r->problem, r->n_integrals);
    r->listed[r->n_integrals] = value;
    const kedge_status status =
        kedge_integral_create(r->ctx, r->mesh, &options, &r->integrals[r->n_integrals]);
    if (status != KEDGE_OK) return kg_cli_task_fail(r, status, false);
  }
  return KG_EXIT_SOLVED;
}

/// Mesh, probes and integrals. Returns an exit code.
static int prepare(kg_cli_task *r)
{
  if (r->line) {
    kedge_context_set_progress(r->ctx, kg_progress_draw, r->line);
    kg_progress_begin(r->line, "mesh");
  }
  kedge_status status = kedge_problem_mesh(r->problem, &r->mesh);
  if (status == KEDGE_OK) status = kg_cli_beside_open(r->ctx, r->mesh, r->problem, &r->beside);
  return status == KEDGE_OK ? make_integrals(r) : kg_cli_task_fail(r, status, true);
}

void kg_cli_task_tell(const kg_cli_task *r, kedge_status status, int *code)
{
  if (status != KEDGE_OK && *code == KG_EXIT_SOLVED) *code = kg_cli_task_fail(r, status, false);
}

kedge_status kg_cli_task_integrate(kg_cli_task *r, const kedge_solution *solution)
{
  for (int i = 0; i < r->n_integrals; ++i) {
    const kedge_status status =
        kedge_integral_evaluate(r->integrals[i], solution, &r->values[i].value);
    if (status != KEDGE_OK) return status;
  }
  return KEDGE_OK;
}

static kedge_status write_solution(void *user, const char *path)
{
  return kedge_solution_write(user, path);
}

int kg_cli_task_deliver(kg_cli_task *r, const kg_cli_result *result)
{
  const kg_cli_problem *const from = r->from;
  int code = result->code;
  if (code == KG_EXIT_SOLVED)
    kg_cli_task_tell(r, kg_cli_beside_write(&r->beside, result->solution), &code);
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(result->solution, &report);
  report.march = result->march;
  const kedge_status status = kg_cli_task_integrate(r, result->solution);
  kg_cli_task_tell(r, status, &code);
  if (status == KEDGE_OK) {  // all of them or none
    report.n_integrals = r->n_integrals;
    report.integrals = r->listed;
  }
  if (from->report) kg_cli_task_tell(r, kedge_report_write(r->ctx, &report, from->report), &code);
  if (r->line) kg_progress_clear(r->line);
  if (r->beside.picture && code == KG_EXIT_SOLVED)
    code = kg_cli_beside_draw(r->ctx, &r->beside, result->output, write_solution, result->solution);
  if (!from->quiet) {
    kg_summary_print(&report, from->file, kedge_context_reason(r->ctx),
                     result->march ? NULL : result->output);
    kg_cli_beside_print(&r->beside, report.probe_note);
  }
  if (code != KG_EXIT_SOLVED || (result->march ? result->march->converged : report.converged))
    return code;
  fprintf(stderr, "kedge: not converged: %s\n",
          result->not_converged ? result->not_converged : report.solver_note);
  return KG_EXIT_NOT_CONVERGED;
}

/// Solve a steady problem, whose solution has its report alone where nothing reads fields. Returns
/// an exit code.
static int solve_steady(kg_cli_task *r)
{
  kedge_solution *solution;
  const bool keeps = r->output || r->n_integrals > 0 || kg_cli_beside_needs_fields(&r->beside);
  const kedge_status status =
      (keeps ? kedge_solve : kedge_solve_report)(r->ctx, r->mesh, r->problem, &solution);
  if (status != KEDGE_OK) return kg_cli_task_fail(r, status, false);
  kg_cli_result result = {.solution = solution, .code = KG_EXIT_SOLVED};
  if (r->output) kg_cli_task_tell(r, kedge_solution_write(solution, r->output), &result.code);
  if (result.code == KG_EXIT_SOLVED) result.output = r->output;
  const int code = kg_cli_task_deliver(r, &result);
  kedge_solution_destroy(solution);
  return code;
}

void kg_cli_task_report_failure(const kg_cli_task *r, const kedge_report *known)
{
  kedge_report report = *known;
  if (!r->from->report) return;
  report.size = sizeof report;
  report.stop = KEDGE_STOP_COUNT;
  report.iteration_u = report.iteration_u_star = report.iteration_q = report.iteration_sigma = NAN;
  report.relative_residual = report.start_residual = report.rounding_residual = NAN;
  (void)kedge_report_write(r->ctx, &report, r->from->report);  // the failure has been told
}

/// Look at all files before the work. Returns an exit code.
static int check_targets(kg_cli_task *r, const solve_options *options)
{
  char said[KG_CLI_SAID];
  int code = KG_EXIT_SOLVED;
  if (!kg_cli_targets(&options->from, r->problem, options->output, said)) {
    code = KG_EXIT_INPUT;
  } else if ((code = kg_cli_beside_check(r->ctx, &options->from, r->problem, r->output,
                                         options->picture, &r->beside)) != KG_EXIT_SOLVED) {
    return code;
  } else if (r->output || r->beside.boundary || r->beside.picture) {
    const kedge_status status = kedge_output_ready(r->ctx);
    if (status != KEDGE_OK) code = kg_cli_task_fail(r, status, false);
    if (status != KEDGE_OK) snprintf(said, sizeof said, "%s", kedge_context_error(r->ctx));
  }
  if (code != KG_EXIT_SOLVED && said[0])
    kg_cli_task_report_failure(
        r, &(kedge_report){.solver_note = "nothing was solved, as the output cannot be written",
                           .output_error = said});
  return code;
}

static int solve(const solve_options *options)
{
  kg_cli_task r = {.from = &options->from};
  kg_progress_line line = {0};
  int code;
  kedge_status status = kedge_context_create(&options->from.context, &r.ctx);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  if (!options->from.quiet && kg_progress_wanted()) r.line = &line;

  status = kedge_problem_read(r.ctx, options->from.file, options->from.overrides.values,
                              options->from.overrides.n, &r.problem);
  if (status != KEDGE_OK) {
    code = kg_cli_task_fail(&r, status, true);
    goto done;
  }
  r.output = options->output ? options->output : kedge_problem_output(r.problem);
  code = check_targets(&r, options);
  if (code == KG_EXIT_SOLVED) code = prepare(&r);
  const bool waves = strcmp(kedge_problem_system(r.problem), "elliptic") != 0;
  if (code == KG_EXIT_SOLVED)
    code = waves            ? kg_cli_march_run(&r, &kg_cli_march_waves)
           : r.beside.moves ? kg_cli_march_run(&r, &kg_cli_march_parabolic)
                            : solve_steady(&r);
done:
  for (int i = 0; i < r.n_integrals; ++i) kedge_integral_destroy(r.integrals[i]);
  free(r.integrals);
  free(r.values);
  free(r.listed);
  kg_cli_beside_free(&r.beside);
  kedge_mesh_destroy(r.mesh);
  kedge_problem_destroy(r.problem);
  kedge_context_destroy(r.ctx);
  return code;
}

int kg_cli_solve(int argc, char **argv)
{
  solve_options options = {.from.context = KEDGE_CONTEXT_OPTIONS_INIT};
  options.from.overrides.values = calloc((size_t)argc + 1, sizeof *options.from.overrides.values);
  if (!options.from.overrides.values) return kg_cli_no_memory();
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  const int code = solve(&options);
  free(options.from.overrides.values);
  return code;
}

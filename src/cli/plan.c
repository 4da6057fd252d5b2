#include <stdlib.h>

#include "cli/beside.h"
#include "cli/cli.h"
#include "core/number.h"

static error_t parse(int key, char *text, struct argp_state *state)
{
  return kg_cli_parse_problem(key, text, state, state->input);
}

enum { TITLE = 28, COLUMN = 20 };

/// A title and one number of bytes an operator; "-" for one that the mesh or the coefficients
/// exclude.
static void print_row(const kedge_plan *plan, const char *title,
                      const int64_t bytes[KEDGE_OPERATOR_COUNT])
{
  char text[16];
  printf("%-*s", TITLE, title);
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    printf("%*s", COLUMN, plan->peak_bytes[op] ? kg_bytes_text((double)bytes[op], text) : "-");
  putchar('\n');
}

/// @param[in] shared  device memory is host memory, where the results lie too
static void print_stages(const kedge_plan *plan, bool shared)
{
  printf("%-*s", TITLE, "held during the stage");
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    printf("%*s", COLUMN, kedge_operator_name((kedge_operator)op));
  putchar('\n');
  for (int s = 0; s < plan->n_stages; ++s) {
    int64_t bytes[KEDGE_OPERATOR_COUNT];
    for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op) bytes[op] = plan->stage_bytes[op][s];
    print_row(plan, kg_cli_stage_title(plan->stage_name[s]), bytes);
  }
  print_row(plan, "peak", plan->peak_bytes);
  if (shared) print_row(plan, "in all, with results", plan->needed_bytes);
  char vectors[16], solution[16];
  if (plan->march_bytes > 0)
    printf("beside the peak: %s for u of steps and stages, %s for a solution\n",
           kg_bytes_text((double)plan->march_bytes, vectors),
           kg_bytes_text((double)plan->solution_bytes, solution));
}

static void print_steps(int64_t steps, double longest)
{
  printf("%lld step%s of at most %.4g\n", (long long)steps, kg_cli_plural(steps), longest);
}

/// "matrix-free, ell fit" or "no operator fits".
static void print_fits(const kedge_plan *plan)
{
  int n = 0;
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    if (plan->fits[op]) printf("%s%s", n++ ? ", " : "", kedge_operator_name((kedge_operator)op));
  printf("%s\n", n == 0 ? "no operator fits" : n == 1 ? " fits" : " fit");
}

/// Print which solver is planned: only the matrix-free operator has other preconditioners than
/// Jacobi.
static void print_solver(const kedge_plan *plan)
{
  const bool smooths = plan->smoother[0] != '\0';
  printf("%s with %s", smooths ? "matrix-free" : "every operator", plan->preconditioner);
  if (smooths) printf(", smoother %s, precision %s", plan->smoother, plan->precision);
  printf("%s\n", smooths ? "; the others with jacobi" : "");
  if (plan->stabilization_length > 0)
    printf("stabilization diffusion / L, L = %.6g\n", plan->stabilization_length);
  putchar('\n');
}

/// A plan of waves, which have no operators.
static void print_waves(const kedge_context *ctx, const char *problem, const kedge_plan *plan)
{
  char device[16], host[16], available[16];
  printf("%s: %lld elements, order %d, precision %s, %lld unknowns\n", kg_cli_shown(problem),
         (long long)plan->elements, plan->order, plan->precision, (long long)plan->wave_unknowns);
  printf("backend %s on %s (%s)\n", kedge_backend_name(kedge_context_backend(ctx)),
         kedge_context_device(ctx), kedge_context_reason(ctx));
  print_steps(plan->wave_steps, plan->wave_step);
  if (plan->wave_step > plan->wave_longest * (1.0 + 1e-9))
    printf(
        "note: that is longer than %.4g, the longest that is stable on every mesh; leave step, "
        "steps and cfl out of [time], or set step <= %.4g\n",
        plan->wave_longest, plan->wave_longest);
  if (plan->note[0] != '\0') printf("note: %s\n", plan->note);
  printf("waves take %s there, and %s of host memory beside; %s is free: they %s\n",
         kg_bytes_text((double)plan->peak_bytes[0], device),
         kg_bytes_text((double)plan->host_bytes, host),
         kg_bytes_text((double)plan->free_bytes, available), plan->fits[0] ? "fit" : "do not fit");
}

static void print_plan(const kedge_context *ctx, const char *problem, const kedge_plan *plan)
{
  printf("%s: %lld element%s, %lld %s, order %d, %lld trace unknowns\n", kg_cli_shown(problem),
         (long long)plan->elements, kg_cli_plural(plan->elements), (long long)plan->edges,
         plan->dimension == 3 ? "faces" : "edges", plan->order, (long long)plan->trace_unknowns);
  printf("backend %s on %s (%s)\n", kedge_backend_name(kedge_context_backend(ctx)),
         kedge_context_device(ctx), kedge_context_reason(ctx));
  if (plan->march_steps > 0)
    print_steps(plan->march_steps, plan->march_step);
  else if (plan->march_bytes > 0)
    puts("steps that adapt");
  print_solver(plan);
  print_stages(plan, kedge_context_backend(ctx) == KEDGE_BACKEND_HOST);
  char needed[16], available[16];
  printf("\nhost memory beside that: %s, of %s free\n",
         kg_bytes_text((double)plan->host_bytes, needed),
         kg_bytes_text((double)plan->host_free_bytes, available));
  printf("%s is free: ", kg_bytes_text((double)plan->free_bytes, available));
  print_fits(plan);
  if (plan->note[0] != '\0') printf("note: %s\n", plan->note);
}

/// Table, why the problem does not fit or HDF5 is missing for its output, report. Whatever fails,
/// there is a report, and one sentence. Returns an exit code.
/// @param[in] writes  there is an output, or one of the boundary
static int deliver(kedge_context *ctx, const kg_cli_problem *from, const kedge_plan *plan,
                   bool writes)
{
  if (!from->quiet) (plan->wave_unknowns > 0 ? print_waves : print_plan)(ctx, from->file, plan);
  int code = KG_EXIT_SOLVED;
  if (!plan->fits[plan->operator_kind]) code = kg_cli_fail(ctx, KEDGE_ERR_MEMORY, false);
  kedge_status status = writes ? kedge_output_ready(ctx) : KEDGE_OK;
  if (status != KEDGE_OK && code == KG_EXIT_SOLVED) code = kg_cli_fail(ctx, status, false);
  status = from->report ? kedge_plan_write(ctx, plan, from->report) : KEDGE_OK;
  if (status != KEDGE_OK && code == KG_EXIT_SOLVED) code = kg_cli_fail(ctx, status, false);
  return code;
}

/// What a solve refuses before its mesh is refused here too. Returns an exit code.
static int look_ahead(kedge_context *ctx, const kg_cli_problem *from, const kedge_problem *problem,
                      kg_cli_beside *beside)
{
  if (!kg_cli_targets(from, problem, NULL, NULL)) return KG_EXIT_INPUT;
  return kg_cli_beside_check(ctx, from, problem, kedge_problem_output(problem), NULL, beside);
}

static int make_plan(const kg_cli_problem *from)
{
  kedge_context *ctx;
  kedge_problem *problem = NULL;
  kg_cli_beside beside = {0};
  kedge_plan plan = KEDGE_PLAN_INIT;
  kedge_status status = kedge_context_create(&from->context, &ctx);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  status = kedge_problem_read(ctx, from->file, from->overrides.values, from->overrides.n, &problem);
  int code = status == KEDGE_OK ? look_ahead(ctx, from, problem, &beside) : KG_EXIT_SOLVED;
  if (code != KG_EXIT_SOLVED) goto done;
  if (status == KEDGE_OK)
    status = (beside.moves ? kedge_march_plan : kedge_plan_make)(ctx, NULL, problem, &plan);
  const bool writes = kedge_problem_output(problem) || beside.boundary;
  code = status == KEDGE_OK ? deliver(ctx, from, &plan, writes) : kg_cli_fail(ctx, status, true);
done:
  kg_cli_beside_free(&beside);
  kedge_problem_destroy(problem);
  kedge_context_destroy(ctx);
  return code;
}

int kg_cli_plan(int argc, char **argv)
{
  static const struct argp_option options_list[] = {
      {"report", 'r', "FILE.json", 0, "Write the plan as JSON", 0},
      {"quiet", 'q', NULL, 0, "Print nothing but errors", 0},
      {0}};
  static const struct argp argp = {
      .options = options_list,
      .parser = parse,
      .args_doc = "PROBLEM.ini",
      .doc =
          "Predict the device memory of a solve, stage by stage, for every trace operator, and "
          "say whether it fits. Nothing is allocated on the device. The "
          "exit code is 1 where the problem does not fit with its operator.",
      .children = kg_cli_problem_children};
  kg_cli_problem problem = {.context = KEDGE_CONTEXT_OPTIONS_INIT};
  problem.overrides.values = calloc((size_t)argc + 1, sizeof *problem.overrides.values);
  if (!problem.overrides.values) return kg_cli_no_memory();
  argp_parse(&argp, argc, argv, 0, NULL, &problem);
  const int code = make_plan(&problem);
  free(problem.overrides.values);
  return code;
}

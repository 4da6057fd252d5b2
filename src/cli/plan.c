#include <stdlib.h>

#include "cli/cli.h"

typedef struct plan_options {
  const char *problem;
  kg_cli_overrides overrides;
  kedge_context_options context;
} plan_options;

static error_t parse(int key, char *text, struct argp_state *state)
{
  plan_options *options = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &options->overrides;
      state->child_inputs[1] = &options->context;
      return 0;
    case ARGP_KEY_ARG:
      if (options->problem) argp_error(state, "one problem file at a time, not also '%s'", text);
      options->problem = text;
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "which problem file?");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static void print_row(const char *title, int64_t matrix_free, int64_t ell)
{
  char first[16], second[16];
  printf("%-28s%14s%14s\n", title, kg_cli_bytes((double)matrix_free, first),
         kg_cli_bytes((double)ell, second));
}

static void print_plan(const kedge_context *ctx, const char *problem, const kedge_mesh *mesh,
                       const kedge_plan *plan)
{
  enum { FREE = KEDGE_OPERATOR_MATRIX_FREE, ELL = KEDGE_OPERATOR_ELL };
  kedge_mesh_info info;
  kedge_mesh_get_info(mesh, &info);
  printf("%s: %lld triangles, %lld edges\n", problem, (long long)info.elements,
         (long long)info.edges);
  printf("backend %s on %s (%s)\n\n", kedge_backend_name(kedge_context_backend(ctx)),
         kedge_context_device(ctx), kedge_context_reason(ctx));
  printf("%-28s%14s%14s\n", "held during the stage", "matrix-free", "ell");
  for (int s = 0; s < KEDGE_STAGE_COUNT; ++s)
    print_row(kg_cli_stage_title((kedge_stage)s), plan->stage_bytes[FREE][s],
              plan->stage_bytes[ELL][s]);
  print_row("peak", plan->peak_bytes[FREE], plan->peak_bytes[ELL]);
  printf("%-28s%14lld%14lld\n", "largest such mesh, triangles",
         (long long)plan->largest_elements[FREE], (long long)plan->largest_elements[ELL]);

  char needed[16], available[16];
  const char *fits = plan->fits[FREE] && plan->fits[ELL] ? "both operators fit"
                     : plan->fits[FREE]                  ? "matrix-free fits, ell does not"
                     : plan->fits[ELL]                   ? "ell fits, matrix-free does not"
                                                         : "neither operator fits";
  printf("\nhost memory beside that: %s, of %s free\n",
         kg_cli_bytes((double)plan->host_bytes, needed),
         kg_cli_bytes((double)plan->host_free_bytes, available));
  printf("%s is free: %s\n", kg_cli_bytes((double)plan->free_bytes, available), fits);
}

static int make_plan(const plan_options *options)
{
  kedge_context *ctx;
  kedge_problem *problem = NULL;
  kedge_mesh *mesh = NULL;
  int code = KG_EXIT_SOLVED;
  kedge_status status = kedge_context_create(&options->context, &ctx);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  status = kedge_problem_read(ctx, options->problem, options->overrides.values,
                              options->overrides.n, &problem);
  if (status == KEDGE_OK) status = kedge_problem_mesh(problem, &mesh);
  if (status != KEDGE_OK) {
    code = kg_cli_fail(ctx, status, true);
    goto done;
  }
  kedge_plan plan;
  status = kedge_plan_make(ctx, mesh, problem, &plan);
  if (status == KEDGE_OK)
    print_plan(ctx, options->problem, mesh, &plan);
  else
    code = kg_cli_fail(ctx, status, false);
done:
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  kedge_context_destroy(ctx);
  return code;
}

int kg_cli_plan(int argc, char **argv)
{
  static const struct argp_child children[] = {
      {&kg_cli_override_argp, 0, NULL, 0}, {&kg_cli_context_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      .parser = parse,
      .args_doc = "PROBLEM.ini",
      .doc =
          "Predict the device memory of a solve, stage by stage, for both trace operators, and the "
          "largest mesh of this kind that would fit. Nothing is allocated on the device.",
      .children = children};
  plan_options options = {.context = KEDGE_CONTEXT_OPTIONS_INIT};
  options.overrides.values = calloc((size_t)argc + 1, sizeof *options.overrides.values);
  if (!options.overrides.values) return KG_EXIT_FAILED;
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  const int code = make_plan(&options);
  free(options.overrides.values);
  return code;
}

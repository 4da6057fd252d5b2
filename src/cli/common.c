#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/text.h"

const char *kg_cli_shown(const char *text)
{
  enum { TEXTS = 4 };  // of one call of printf(), at most
  static char shown[TEXTS][16384];
  static int next;
  char *const to = shown[next++ % TEXTS];
  kg_text_show(text, to, sizeof *shown);
  return to;
}

int kg_cli_width(const char *text)
{
  int width = 0;
  for (; *text; ++text) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

long kg_cli_integer(struct argp_state *state, const char *option, const char *text, long minimum,
                    long maximum)
{
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (end == text || *end || errno || value < minimum || value > maximum)
    argp_error(state, "%s wants a whole number from %ld to %ld, not '%s'", option, minimum, maximum,
               kg_cli_shown(text));
  return value;
}

static error_t parse_help(int key, char *text, struct argp_state *state)
{
  (void)text;
  if (key != 'h') return ARGP_ERR_UNKNOWN;
  argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
  return 0;
}

static const struct argp_option help_options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, "As --help", 0},
                                                  {0}};
static const struct argp help_argp = {.options = help_options, .parser = parse_help};
const struct argp_child kg_cli_help_children[] = {{&help_argp, 0, NULL, 0}, {0}};

const char *kg_cli_input(struct argp_state *state, const char *path)
{
  if (strcmp(path, "-") == 0)
    argp_error(state, "give /dev/stdin for standard input, or ./- for a file of that name");
  return path;
}

static kedge_backend parse_backend(struct argp_state *state, const char *text)
{
  static const kedge_backend offered[] = {KEDGE_BACKEND_AUTO, KEDGE_BACKEND_HOST,
                                          KEDGE_BACKEND_CUDA};
  for (size_t b = 0; b < sizeof offered / sizeof *offered; ++b)
    if (strcmp(kedge_backend_name(offered[b]), text) == 0) return offered[b];
  argp_error(state, "--backend is auto, host or cuda, not '%s'", kg_cli_shown(text));
  return KEDGE_BACKEND_AUTO;
}

static error_t parse_context(int key, char *text, struct argp_state *state)
{
  kedge_context_options *options = state->input;
  switch (key) {
    case 'b':
      options->backend = parse_backend(state, text);
      return 0;
    case 'd':
      options->device = (int)kg_cli_integer(state, "--device", text, 0, 1023);
      return 0;
    case 't':
      options->threads = (int)kg_cli_integer(state, "--threads", text, 1, kedge_threads_max());
      return 0;
    case ARGP_KEY_END:
      if (options->backend == KEDGE_BACKEND_HOST && options->device >= 0)
        argp_error(state, "--device %d is a GPU's, and --backend is host: leave one of them out",
                   options->device);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_option context_options[] = {
    {"backend", 'b', "NAME", 0, "auto (the default: the GPU when one is usable), host or cuda", 1},
    {"device", 'd', "N", 0,
     "CUDA device number, which rules out the host; by default the first visible one", 1},
    {"threads", 't', "N", 0, "host threads; by default one a core", 1},
    {0}};
static const struct argp context_argp = {.options = context_options, .parser = parse_context};

static error_t parse_override(int key, char *text, struct argp_state *state)
{
  kg_cli_overrides *overrides = state->input;
  if (key != 's') return ARGP_ERR_UNKNOWN;
  overrides->values[overrides->n++] = text;
  return 0;
}

static const struct argp_option override_options[] = {
    {"set", 's', "SECTION.KEY=VALUE", 0, "Set a key of the problem file; may be repeated", 0}, {0}};
static const struct argp override_argp = {.options = override_options, .parser = parse_override};

const struct argp_child kg_cli_problem_children[] = {
    {&override_argp, 0, NULL, 0}, {&context_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

error_t kg_cli_parse_problem(int key, char *text, struct argp_state *state, kg_cli_problem *problem)
{
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &problem->overrides;
      state->child_inputs[1] = &problem->context;
      return 0;
    case 'r':
      problem->report = text;
      return 0;
    case 'q':
      problem->quiet = true;
      return 0;
    case ARGP_KEY_ARG:
      if (problem->file)
        argp_error(state, "one problem file at a time, not also '%s'", kg_cli_shown(text));
      problem->file = kg_cli_input(state, text);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "which problem file?");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

int kg_cli_fail(const kedge_context *ctx, kedge_status status, bool reads_input)
{
  const char *sentence = kedge_context_error(ctx);
  fprintf(stderr, "kedge: %s\n", sentence[0] ? sentence : kedge_status_text(status));
  const bool input = status == KEDGE_ERR_INPUT || (reads_input && status == KEDGE_ERR_IO);
  return input ? KG_EXIT_INPUT : KG_EXIT_FAILED;
}

int kg_cli_no_memory(void)
{
  fprintf(stderr, "kedge: no host memory for the command's own lists; free some\n");
  return KG_EXIT_FAILED;
}

const char *kg_cli_plural(int64_t n)
{
  return n == 1 ? "" : "s";
}

const char *kg_cli_stage_title(const char *name)
{
  static const char *const titles[][2] = {{"local_matrices", "local matrices (B1-B2)"},
                                          {"assembly", "assembly (B3)"},
                                          {"trace_solve", "trace solve (B4)"},
                                          {"local_solve", "local solve (B5-B6)"},
                                          {"postprocess", "post-process"}};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; ++i)
    if (strcmp(titles[i][0], name) == 0) return titles[i][1];
  return name;
}

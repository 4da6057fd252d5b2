// The options of the measuring programs.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/error.h"

/// What a program takes beside the options of all.
typedef struct taken {
  bool backend, sets;
} taken;

static void usage(taken takes)
{
  fprintf(stderr,
          "usage: %s%s [--orders 1-4,9] [--mesh WORDS|FILE.msh] [--only OPERATOR,...] "
          "[--samples 1..%d] "
          "[--check|--no-check] [--no-roofs] [--profile]%s\n",
          program_invocation_short_name, takes.backend ? " [--backend host|cuda]" : "",
          BENCH_SAMPLES_MAX, takes.sets ? " [--set SECTION.KEY=VALUE ...]" : "");
  exit(2);
}

/// "1-3,9"
static bool take_orders(bench_settings *s, const char *text)
{
  memset(s->orders, 0, sizeof s->orders);
  for (;;) {
    int first, last, read = 0;
    if (sscanf(text, "%d%n", &first, &read) != 1) return false;
    last = first;
    text += read;
    if (*text == '-') {
      if (sscanf(++text, "%d%n", &last, &read) != 1) return false;
      text += read;
    }
    if (first < KEDGE_ORDER_MIN || last > KEDGE_ORDER_MAX || first > last) return false;
    for (int order = first; order <= last; ++order) s->orders[order] = true;
    if (*text == '\0') return true;
    if (*text++ != ',') return false;
  }
}

/// One option with its value; false: it makes no sense.
static bool take_option(bench_settings *s, const char *name, const char *value, taken takes)
{
  if (takes.sets && strcmp(name, "--set") == 0) {
    const bool fits = s->n_sets < BENCH_SETS_MAX && strchr(value, '=');
    if (fits) s->sets[s->n_sets++] = value;
    return fits;
  }
  if (takes.backend && strcmp(name, "--backend") == 0) {
    const bool cuda = strcmp(value, "cuda") == 0;
    s->backend = cuda ? KEDGE_BACKEND_CUDA : KEDGE_BACKEND_HOST;
    return cuda || strcmp(value, "host") == 0;
  }
  if (strcmp(name, "--mesh") == 0) {
    s->mesh = value;
    return *value != '\0';
  }
  if (strcmp(name, "--only") == 0) {
    s->only = value;
    return *value != '\0';
  }
  if (strcmp(name, "--samples") == 0) {
    s->samples = atoi(value);
    return s->samples >= 1 && s->samples <= BENCH_SAMPLES_MAX;
  }
  return strcmp(name, "--orders") == 0 && take_orders(s, value);
}

static bool take_flag(bench_settings *s, const char *name)
{
  if (strcmp(name, "--profile") == 0)
    s->profile = true;
  else if (strcmp(name, "--no-roofs") == 0)
    s->no_roofs = true;
  else if (strcmp(name, "--check") == 0)
    s->check = true;
  else if (strcmp(name, "--no-check") == 0)
    s->check = false;
  else
    return false;
  return true;
}

static bench_settings parse(int argc, char **argv, kedge_backend backend, bool sets)
{
  const taken takes = {backend == KEDGE_BACKEND_AUTO, sets};
  bench_settings s = {.backend = backend, .samples = 21, .mesh = "square 1000", .check = true};
  take_orders(&s, "1-9");
  for (int i = 1; i < argc; ++i) {
    if (take_flag(&s, argv[i])) continue;
    if (!take_option(&s, argv[i], i + 1 < argc ? argv[i + 1] : "", takes)) usage(takes);
    ++i;
  }
  return s;
}

bench_settings bench_parse(int argc, char **argv, kedge_backend backend)
{
  return parse(argc, argv, backend, false);
}

bench_settings bench_parse_sets(int argc, char **argv, kedge_backend backend)
{
  return parse(argc, argv, backend, true);
}

void bench_apply_sets(kedge_context *ctx, kedge_problem *problem, const bench_settings *settings,
                      bool of_mesh)
{
  for (int i = 0; i < settings->n_sets; ++i) {
    const char *const set = settings->sets[i], *const equals = strchr(set, '=');
    const char *const dot = memrchr(set, '.', (size_t)(equals - set));
    BENCH_TRY(ctx, dot ? KEDGE_OK
                       : KG_FAIL(ctx, KEDGE_ERR_INPUT, "--set %s: it is SECTION.KEY=VALUE", set));
    char section[64], key[64];
    snprintf(section, sizeof section, "%.*s", (int)(dot - set), set);
    snprintf(key, sizeof key, "%.*s", (int)(equals - dot - 1), dot + 1);
    if ((strcmp(section, "mesh") == 0) == of_mesh)
      bench_set(ctx, problem, section, key, equals + 1);
  }
}

bool bench_wants(const bench_settings *settings, const char *operator_name)
{
  const size_t length = strlen(operator_name);
  const char *at = settings->only;
  if (at == NULL) return true;
  for (;; ++at) {
    if (strncmp(at, operator_name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
      return true;
    at = strchr(at, ',');
    if (at == NULL) return false;
  }
}

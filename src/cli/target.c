#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "core/writable.h"

static bool spares_inputs(const kg_cli_file *file, kg_writable *w)
{
  struct stat target, input;
  if (!file->inputs || stat(file->path, &target) != 0) return true;  // a new file
  for (int i = 0; i < 2; ++i) {
    if (!file->inputs[i] || stat(file->inputs[i], &input) != 0) continue;
    if (input.st_dev != target.st_dev || input.st_ino != target.st_ino) continue;
    return kg_writable_refuse(w, "it is the input %s; give another name", file->inputs[i]);
  }
  return true;
}

/// Nobody writes a file of the name that stands for standard output elsewhere.
static bool is_no_dash(const kg_cli_file *file, kg_writable *w)
{
  if (file->regular || strcmp(file->path, "-") != 0) return true;
  return kg_writable_refuse(w,
                            "give /dev/stdout for standard output, or ./- for a file of that name");
}

static bool say(const kg_cli_file *file, const kg_writable *w)
{
  fprintf(stderr, "kedge: %s%s\n", file->place, w->sentence);
  return false;
}

bool kg_cli_named(const kg_cli_file *file, const char *ending, const char *other)
{
  kg_writable w = {.path = file->path, .what = file->what};
  return kg_writable_named(&w, ending, other) || say(file, &w);
}

char *kg_cli_target(const kg_cli_file *file)
{
  kg_writable w = {.path = file->path, .what = file->what};
  if (is_no_dash(file, &w) && kg_writable_find(&w, file->regular) && spares_inputs(file, &w))
    return w.file;
  say(file, &w);
  free(w.file);
  return NULL;
}

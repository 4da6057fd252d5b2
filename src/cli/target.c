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
  const char *const shown = kg_cli_shown(w->sentence);
  fprintf(stderr, "kedge: %s%s\n", file->place, shown);
  if (file->said) snprintf(file->said, KG_CLI_SAID, "%s%s", file->place, shown);
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

/// The folder of a file that need not exist, and its name there.
static bool find_folder(const char *file, struct stat *folder, const char **name)
{
  const char *const slash = strrchr(file, '/');
  *name = slash ? slash + 1 : file;
  char *const path = slash ? strndup(file, (size_t)(*name - file)) : strdup(".");
  const bool found = path && stat(path, folder) == 0;
  free(path);
  return found;
}

bool kg_cli_is_one(const char *a, const char *b)
{
  struct stat folder[2];
  const char *name[2];
  return find_folder(a, &folder[0], &name[0]) && find_folder(b, &folder[1], &name[1]) &&
         folder[0].st_dev == folder[1].st_dev && folder[0].st_ino == folder[1].st_ino &&
         strcmp(name[0], name[1]) == 0;
}

/// Output and report must be writable, two files, and none that is read. Where the report is, it
/// can tell what is wrong with the output.
/// @param[in] output  its path is NULL where nothing is written
static bool are_targets(const kg_cli_file *output, const kg_cli_file *report)
{
  char *const to = output->path ? kg_cli_target(output) : NULL;
  char *const report_to = report->path ? kg_cli_target(report) : NULL;
  const bool same = to && report_to && kg_cli_is_one(to, report_to);
  const bool output_good =
      !output->path || (to && !same && kg_cli_named(output, ".vtkhdf", ".hdf"));
  if (same)
    fprintf(stderr, "kedge: output and report cannot both be %s\n", kg_cli_shown(output->path));
  if (output->said && (!report_to || same)) output->said[0] = '\0';
  const bool good = output_good && (!report->path || report_to);
  free(report_to);
  free(to);
  return good;
}

bool kg_cli_targets(const kg_cli_problem *from, const kedge_problem *problem, const char *output,
                    char *said)
{
  char place[400] = "";
  if (said) said[0] = '\0';
  if (!output) kedge_problem_place(problem, "output", "file", place, sizeof place);
  const char *const inputs[] = {from->file, kedge_problem_mesh_file(problem)};
  const char *const path = output ? output : kedge_problem_output(problem);
  const kg_cli_file target = {path, "output", place, true, inputs, said};
  const kg_cli_file report = {from->report, "report", "", false, inputs, NULL};
  return are_targets(&target, &report);
}

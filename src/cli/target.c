#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "core/writable.h"

static bool spares_inputs(const kg_cli_file *file, kg_writable *w)
{
  struct stat target, input;
  if (!file->inputs || stat(file->path, &target) != 0) return true;  // a new file
  for (int i = 0; i < 3; ++i) {
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

/// Find the file that a path leads to. @return false: w->sentence says what is wrong with it
static bool find(const kg_cli_file *file, kg_writable *w)
{
  if (is_no_dash(file, w) && kg_writable_find(w, file->regular) && spares_inputs(file, w))
    return true;
  free(w->file);
  w->file = NULL;
  return false;
}

char *kg_cli_target(const kg_cli_file *file)
{
  kg_writable w = {.path = file->path, .what = file->what};
  if (!find(file, &w)) say(file, &w);
  return w.file;
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

/// Whether two files have one name in one folder, links followed.
static bool are_named_alike(const char *a, const char *b)
{
  struct stat folder[2];
  const char *name[2];
  return find_folder(a, &folder[0], &name[0]) && find_folder(b, &folder[1], &name[1]) &&
         folder[0].st_dev == folder[1].st_dev && folder[0].st_ino == folder[1].st_ino &&
         strcmp(name[0], name[1]) == 0;
}

bool kg_cli_is_one(const char *a, const char *b)
{
  struct stat file[2];
  if (stat(a, &file[0]) == 0 && stat(b, &file[1]) == 0)
    return file[0].st_dev == file[1].st_dev && file[0].st_ino == file[1].st_ino;
  kg_writable to[2] = {{.path = a}, {.path = b}};
  const bool is_one = kg_writable_find(&to[0], false) && kg_writable_find(&to[1], false) &&
                      are_named_alike(to[0].file, to[1].file);
  free(to[0].file);
  free(to[1].file);
  return is_one;
}

/// Output and report must be writable, two files, and none that is read. One sentence is printed,
/// of the output if both are refused. Where the report is writable, it can tell what is wrong with
/// the output.
/// @param[in] output  its path is NULL where nothing is written
static bool are_targets(const kg_cli_file *output, const kg_cli_file *report)
{
  kg_writable to = {.path = output->path, .what = output->what};
  kg_writable report_to = {.path = report->path, .what = report->what};
  const bool report_good = !report->path || find(report, &report_to);
  bool good = !output->path || find(output, &to);
  const bool same =
      good && report_good && output->path && report->path && kg_cli_is_one(to.file, report_to.file);
  good = good && (!output->path || same || kg_writable_named(&to, ".vtkhdf", ".hdf"));
  free(to.file);
  free(report_to.file);
  if (same)
    fprintf(stderr, "kedge: output and report cannot both be %s\n", kg_cli_shown(output->path));
  if (!good) say(output, &to);
  if (output->said && !report_good) output->said[0] = '\0';
  if (good && !report_good) say(report, &report_to);
  return good && report_good && !same;
}

bool kg_cli_targets(const kg_cli_problem *from, const kedge_problem *problem, const char *output,
                    char *said)
{
  char place[400] = "";
  if (said) said[0] = '\0';
  if (!output) kedge_problem_place(problem, "output", "file", place, sizeof place);
  const char *const inputs[] = {from->file, kedge_problem_mesh_file(problem), from->resume};
  const char *const path = output ? output : kedge_problem_output(problem);
  const kg_cli_file target = {path, "output", place, true, inputs, said};
  const kg_cli_file report = {from->report, "report", "", false, inputs, NULL};
  return are_targets(&target, &report);
}

#include "cli/beside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kg_cli_beside_file *add(kg_cli_beside *b, const char *path, const char *what)
{
  kg_cli_beside_file *const f = &b->files[b->n++];
  *f = (kg_cli_beside_file){.path = path};
  snprintf(f->what, sizeof f->what, "%s", what);
  return f;
}

/// The value of the last setting of a section, or of a key of it; NULL: there is none.
/// @param[in] wanted  NULL: any key
static const char *setting(const kedge_problem *problem, const char *wanted_section,
                           const char *wanted)
{
  const char *found = NULL;
  for (int i = 0; i < kedge_problem_setting_count(problem); ++i) {
    const char *section, *key, *value;
    if (kedge_problem_get_setting(problem, i, &section, &key, &value) == KEDGE_OK && value &&
        strcmp(section, wanted_section) == 0 && (!wanted || strcmp(key, wanted) == 0))
      found = value;
  }
  return found;
}

/// plate.csv of plate.vtkhdf.
static char *table_name(const char *output)
{
  const char *const slash = strrchr(output, '/');
  const char *const dot = strrchr(slash ? slash : output, '.');
  char *name;
  const int stem = (int)(dot ? (size_t)(dot - output) : strlen(output));
  return asprintf(&name, "%.*s.csv", stem, output) < 0 ? NULL : name;
}

static char *list_name(const char *output)
{
  char *name;
  return asprintf(&name, "%s.series", output) < 0 ? NULL : name;
}

/// List what only a problem that moves writes.
static bool list_moving(const kedge_problem *problem, const char *output, kg_cli_beside *b)
{
  const bool lists = setting(problem, "output", "every") || setting(problem, "output", "at");
  const char *const boundary = lists && b->boundary ? b->boundary->path : NULL;
  if (output && !(b->names[0] = table_name(output))) return false;
  if (output && lists && !(b->names[1] = list_name(output))) return false;
  if (boundary && !(b->names[2] = list_name(boundary))) return false;
  if (b->names[0]) b->table = add(b, b->names[0], "table");
  if (b->names[1]) b->list = add(b, b->names[1], "list of outputs");
  if (b->names[2]) b->boundary_list = add(b, b->names[2], "list of boundary outputs");
  b->outputs = (kg_series){.path = output, .list = b->names[1]};
  if (b->boundary) b->boundaries = (kg_series){.path = b->boundary->path, .list = b->names[2]};
  b->steps.path = b->names[0];
  return true;
}

/// List all files.
static bool list(const kg_cli_problem *from, const kedge_problem *problem, const char *output,
                 const char *picture, kg_cli_beside *b)
{
  const char *const boundary = kedge_problem_boundary_output(problem);
  const int n = kedge_problem_probe_count(problem);
  b->files = calloc((size_t)n + 6, sizeof *b->files);
  if (!b->files) return false;
  for (int i = 0; i < n; ++i) {
    char section[400], what[80];
    const char *const name = kedge_problem_probe_name(problem, i);
    snprintf(section, sizeof section, "probe %s", name);
    snprintf(what, sizeof what, "probe %s", kg_cli_shown(name));
    kg_cli_beside_file *const f = add(b, kedge_problem_probe_output(problem, i), what);
    f->points = kedge_problem_probe_file(problem, i);
    kedge_problem_place(problem, section, "output", f->place, sizeof f->place);
    ++b->n_probes;
  }
  if (boundary) {
    b->boundary = add(b, boundary, "boundary output");
    kedge_problem_place(problem, "output", "boundary", b->boundary->place,
                        sizeof b->boundary->place);
  }
  if (picture) b->picture = add(b, picture, "picture");
  if (from->checkpoint) b->checkpoint = add(b, from->checkpoint, "checkpoint");
  b->moves = setting(problem, "time", NULL) != NULL;
  return !b->moves || list_moving(problem, output, b);
}

/// Find where each file is to be written. Returns whether all of them can be; else a sentence is
/// printed.
static bool find(const kg_cli_problem *from, const kedge_problem *problem, kg_cli_beside *b)
{
  const char *const mesh = kedge_problem_mesh_file(problem);
  for (kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f) {
    // A checkpoint may take the place of the one that it began with.
    const char *const inputs[] = {from->file, mesh, f == b->checkpoint ? NULL : from->resume};
    const bool is_probe = f < b->files + b->n_probes;
    const kg_cli_file file = {f->path, f->what, f->place, !is_probe, inputs, NULL};
    if (f == b->boundary && !kg_cli_named(&file, ".vtkhdf", ".hdf")) return false;
    if (f == b->picture && !kg_cli_named(&file, ".png", NULL)) return false;
    f->file = kg_cli_target(&file);
    if (!f->file) return false;
  }
  return true;
}

/// Whether a path leads to the file of points of a probe.
static bool is_read(const kg_cli_beside *b, const char *path, const char *what, const char *place)
{
  struct stat file, points;
  if (!path || stat(path, &file) != 0) return false;
  for (const kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f) {
    if (!f->points || stat(f->points, &points) != 0) continue;
    if (file.st_dev != points.st_dev || file.st_ino != points.st_ino) continue;
    fprintf(stderr, "kedge: %scannot write the %s %s: it is the input %s; give another name\n",
            place, what, kg_cli_shown(path), kg_cli_shown(f->points));
    return true;
  }
  return false;
}

static bool refuse_two(const kg_cli_beside_file *f, const char *other)
{
  fprintf(stderr, "kedge: %s%s and %s cannot both be %s\n", f->place, other, f->what,
          kg_cli_shown(f->path));
  return false;
}

/// Whether a file is one that a series may write: plate.0001.vtkhdf of plate.vtkhdf.
static bool is_of_series(const char *series, const char *file)
{
  const char *const slash = strrchr(file, '/'), *const number = strchr(slash ? slash : file, '.');
  bool is_one = false;
  for (const char *at = number; at && !is_one; at = strchr(at + 1, '.')) {
    const long long i = strtoll(at + 1, NULL, 10);
    char *const name = i > 0 ? kg_series_name(series, i) : NULL;
    is_one = name && kg_cli_is_one(name, file);
    free(name);
  }
  return is_one;
}

/// @param[in] file  NULL: there is none
static bool spares_series(const kg_series *s, const char *file, const char *what, const char *place)
{
  if (!s->list || !file || !is_of_series(s->path, file)) return true;
  fprintf(stderr,
          "kedge: %sthe %s %s has the name of an output of %s, whose files are numbered; give "
          "another name\n",
          place, what, kg_cli_shown(file), kg_cli_shown(s->path));
  return false;
}

/// Whether no file is one that a series may write.
static bool spare_series(const kg_cli_problem *from, const kg_cli_beside *b)
{
  const kg_series *const series[] = {&b->outputs, &b->boundaries};
  for (int i = 0; i < 2; ++i) {
    if (!spares_series(series[i], from->report, "report", "") ||
        !spares_series(series[i], from->resume, "checkpoint", ""))
      return false;
    for (const kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f)
      if (f != b->boundary && !spares_series(series[i], f->file, f->what, f->place)) return false;
  }
  return true;
}

/// Whether all files are different ones, and none is read.
static bool are_apart(const kg_cli_problem *from, const char *output, const kg_cli_beside *b)
{
  if (is_read(b, output, "output", "") || is_read(b, from->report, "report", "")) return false;
  for (const kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f) {
    if (is_read(b, f->path, f->what, f->place)) return false;
    if (output && kg_cli_is_one(output, f->file)) return refuse_two(f, "output");
    if (from->report && kg_cli_is_one(from->report, f->file)) return refuse_two(f, "report");
    for (const kg_cli_beside_file *g = b->files; g < f; ++g)
      if (kg_cli_is_one(g->file, f->file)) return refuse_two(f, g->what);
  }
  return true;
}

/// Whether the problem keeps values that a picture could show.
static bool keeps_values(const kedge_problem *problem)
{
  const char *const fields = setting(problem, "output", "fields");
  return !fields || strcmp(fields, "cells") != 0;
}

/// Whether the files of a series have names.
static bool have_room(const char *output, const kg_cli_beside *b)
{
  const char *const paths[] = {b->list ? output : NULL,
                               b->boundary_list ? b->boundary->path : NULL};
  for (int i = 0; i < 2; ++i) {
    if (!paths[i] || kg_series_has_room(paths[i])) continue;
    fprintf(stderr,
            "kedge: cannot write the outputs %s: the name has no room for their numbers; give a "
            "shorter one\n",
            kg_cli_shown(paths[i]));
    return false;
  }
  return true;
}

int kg_cli_beside_check(const kedge_context *ctx, const kg_cli_problem *from,
                        const kedge_problem *problem, const char *output, const char *picture,
                        kg_cli_beside *b)
{
  if (!list(from, problem, output, picture, b)) return kg_cli_no_memory();
  if ((from->checkpoint || from->resume) && !b->moves) {
    fprintf(stderr, "kedge: %s is of problems with [time], and %s has none; leave it out\n",
            from->checkpoint ? "--checkpoint" : "--resume", kg_cli_shown(from->file));
    return KG_EXIT_INPUT;
  }
  if (!have_room(output, b) || !find(from, problem, b) || !are_apart(from, output, b) ||
      !spare_series(from, b))
    return KG_EXIT_INPUT;
  const kedge_status status = kedge_problem_check_probes(problem);
  if (status != KEDGE_OK) return kg_cli_fail(ctx, status, true);
  if (!picture) return KG_EXIT_SOLVED;
  if (!keeps_values(problem)) {
    fprintf(
        stderr,
        "kedge: --picture shows values at points, and [output] fields = cells keeps means alone; "
        "give --set output.fields=full\n");
    return KG_EXIT_INPUT;
  }
  return kg_cli_picture_ready() ? KG_EXIT_SOLVED : KG_EXIT_FAILED;
}

void kg_cli_beside_free(kg_cli_beside *b)
{
  for (int i = 0; i < b->n; ++i) {
    kedge_probe_destroy(b->files[i].probe);
    free(b->files[i].file);
  }
  free(b->files);
  for (int i = 0; i < 3; ++i) free(b->names[i]);
  kg_series_free(&b->outputs);
  kg_series_free(&b->boundaries);
  kg_table_close(&b->steps);
  *b = (kg_cli_beside){0};
}

kedge_status kg_cli_beside_open(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, kg_cli_beside *b)
{
  if (b->n_probes == 0) return KEDGE_OK;
  kedge_probe **const probes = calloc((size_t)b->n_probes, sizeof *probes);
  if (!probes) return KEDGE_ERR_MEMORY;
  const kedge_status status = kedge_problem_probes_create(ctx, mesh, problem, probes);
  for (int i = 0; i < b->n_probes; ++i) b->files[i].probe = probes[i];
  free(probes);
  return status;
}

kedge_status kg_cli_beside_write(kg_cli_beside *b, kedge_solution *solution)
{
  for (kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f) {
    kedge_status status = KEDGE_OK;
    if (f->probe) status = kedge_probe_write(f->probe, solution, f->path);
    const bool is_boundary = f == b->boundary && !b->moves;
    if (is_boundary) status = kedge_solution_write_boundary(solution, f->path);
    if (status != KEDGE_OK) return status;
    f->written = f->written || f->probe || is_boundary;
  }
  return KEDGE_OK;
}

/// Write an output that has no name once it is open.
/// @param[out] descriptor  of it; -1: a sentence says why not
static kedge_status write_nameless(kedge_context *ctx, kg_series_write *write, void *user,
                                   int *descriptor)
{
  char path[400];
  const char *const folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/kedge-XXXXXX.vtkhdf", folder && *folder ? folder : "/tmp");
  const int made = mkstemps(path, (int)strlen(".vtkhdf"));
  *descriptor = -1;
  // Where no file can be made, the writer says why.
  if (made >= 0) close(made);
  const kedge_status status = write(user, path);
  if (status == KEDGE_OK) *descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (made >= 0) unlink(path);
  if (status != KEDGE_OK) kg_cli_fail(ctx, status, false);
  return status;
}

int kg_cli_beside_draw(kedge_context *ctx, kg_cli_beside *b, const char *output,
                       kg_series_write *write, void *user)
{
  int file = -1;
  if (output)
    file = open(output, O_RDONLY | O_CLOEXEC);
  else if (write_nameless(ctx, write, user, &file) != KEDGE_OK)
    return KG_EXIT_FAILED;
  if (file < 0) {
    fprintf(stderr, "kedge: --picture: the output that it shows is gone\n");
    return KG_EXIT_FAILED;
  }
  b->picture->written = kg_cli_picture_draw(file, b->picture->file);
  close(file);
  return b->picture->written ? KG_EXIT_SOLVED : KG_EXIT_FAILED;
}

void kg_cli_beside_print(const kg_cli_beside *b, const char *probe_note)
{
  kg_series_print(&b->outputs, "output");
  kg_series_print(&b->boundaries, "boundary");
  if (b->steps.rows > 0)
    printf("table        %s (%lld step%s)\n", kg_cli_shown(b->steps.path), (long long)b->steps.rows,
           kg_cli_plural(b->steps.rows));
  for (const kg_cli_beside_file *f = b->files; f < b->files + b->n; ++f) {
    if (!f->written) continue;
    const char *const kind = f == b->boundary     ? "boundary"
                             : f == b->picture    ? "picture"
                             : f == b->checkpoint ? "checkpoint"
                                                  : "probe";
    printf("%-12s %s", kind, kg_cli_shown(f->path));
    if (f->probe)
      printf(" (%s, %lld point%s)", f->what + strlen("probe "),
             (long long)kedge_probe_count(f->probe), kg_cli_plural(kedge_probe_count(f->probe)));
    putchar('\n');
  }
  if (probe_note && probe_note[0]) printf("note         %s\n", kg_cli_shown(probe_note));
}

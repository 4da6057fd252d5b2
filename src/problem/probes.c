#include "problem/probes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/number.h"
#include "kedge/probe.h"
#include "problem/problem.h"

void kg_probe_free(kg_probe *p)
{
  free(p->name);
  free(p->points);
  free(p->file);
  free(p->output);
  *p = (kg_probe){0};
}

kedge_status kg_probe_of(kedge_problem *problem, const kg_settings *settings, const kg_setting *s,
                         kg_probe **out)
{
  const char *const name = kg_section_group(s->section, "probe");
  for (int i = 0; i < problem->n_probes; ++i) {
    *out = &problem->probes[i];
    if (strcmp(problem->probes[i].name, name) == 0) return KEDGE_OK;
  }
  kg_probe *const p = &problem->probes[problem->n_probes++];
  const size_t length = strlen(name);
  *out = p;
  *p = (kg_probe){.every = 1};
  KG_TRY(kg_copy_text(settings->ctx, name, length, &p->name));
  KG_TRY(kg_host_alloc(settings->ctx, length + sizeof ".csv", 1, &p->output));
  memcpy(p->output, name, length);
  memcpy(p->output + length, ".csv", sizeof ".csv");
  return KEDGE_OK;
}

static const char *skip_blanks(const char *text)
{
  while (isspace((unsigned char)*text)) ++text;
  return text;
}

/// Read a number with its sign. @return what follows it; NULL: there is none, or it is not finite
static const char *read_number(const char *text, double *value)
{
  text = skip_blanks(text);
  const double sign = *text == '-' ? -1.0 : 1.0;
  if (*text == '-' || *text == '+') ++text;
  const size_t n = kg_number_scan(text);
  *value = n > 0 ? sign * kg_number_value(text) : NAN;
  return isfinite(*value) ? text + n : NULL;
}

/// Read "x y" or "x y z", up to a comma or the end.
/// @param[out] dimension  how many numbers it has
/// @return what follows, NULL: it is something else
static const char *read_point(const char *text, double at[3], int *dimension)
{
  for (*dimension = 0; *dimension < 3;) {
    text = read_number(text, &at[*dimension]);
    if (!text) return NULL;
    const char *const next = skip_blanks(text);
    if (*next == ',' || *next == '\0') return ++*dimension > 1 ? next : NULL;
    if (next == text) return NULL;
    ++*dimension;
  }
  return NULL;
}

kedge_status kg_probe_read_points(const kg_settings *settings, const kg_setting *s, kg_probe *out)
{
  int64_t n = 1;
  for (const char *c = s->value; *c; ++c) n += *c == ',';
  free(out->points);
  KG_TRY(kg_host_alloc(settings->ctx, (size_t)n, 3 * sizeof *out->points, &out->points));
  const char *text = s->value;
  for (int64_t i = 0; i < n; ++i) {
    double at[3];
    int dimension;
    text = read_point(text + (i > 0), at, &dimension);
    if (!text)
      return kg_setting_fail(settings, s,
                             "point %lld of points is neither two numbers nor, in space, three; "
                             "write x y, x y, ... or x y z, x y z, ...",
                             (long long)i + 1);
    if (i == 0) out->dimension = dimension;
    if (dimension != out->dimension)
      return kg_setting_fail(settings, s, "point %lld of points has %d numbers, and point 1 has %d",
                             (long long)i + 1, dimension, out->dimension);
    memcpy(out->points + dimension * i, at, (size_t)dimension * sizeof *at);
  }
  out->n = n;
  return KEDGE_OK;
}

kedge_status kg_probe_read_line(const kg_settings *settings, const kg_setting *s, kg_probe *out)
{
  double n = NAN, ends[2][3];
  int dimension[2] = {0, 0};
  const char *text = read_point(s->value, ends[0], &dimension[0]);
  if (text && *text == ',') text = read_point(text + 1, ends[1], &dimension[1]);
  if (text && *text == ',') text = read_number(text + 1, &n);
  if (!text || isnan(n) || *skip_blanks(text) || dimension[0] != dimension[1])
    return kg_setting_fail(settings, s,
                           "line is x0 y0, x1 y1, n or, in space, x0 y0 z0, x1 y1 z1, n: its ends "
                           "and how many points it has, not '%s'",
                           s->value);
  if (n != floor(n) || n < 2 || n > KG_PROBE_POINTS_MAX)
    return kg_setting_fail(settings, s,
                           "a line has a whole number of points from 2 to %d, not %.9g",
                           KG_PROBE_POINTS_MAX, n);
  free(out->points);
  KG_TRY(kg_host_alloc(settings->ctx, 2, 3 * sizeof *out->points, &out->points));
  for (int end = 0; end < 2; ++end)
    memcpy(out->points + end * dimension[0], ends[end], (size_t)dimension[0] * sizeof(double));
  out->dimension = dimension[0];
  out->n = (int64_t)n;
  return KEDGE_OK;
}

kedge_status kg_probes_check(const kg_settings *settings, const kedge_problem *problem)
{
  static const char *const ways[] = {"points", "line", "file"};
  const kg_setting *const fields = kg_settings_find(settings, "output", "fields");
  for (int i = 0; i < problem->n_probes; ++i) {
    const kg_probe *const p = &problem->probes[i];
    for (int k = 0; p->at && k < 3; ++k) {
      const kg_setting *const other = kg_settings_find(settings, p->at->section, ways[k]);
      if (other && other != p->at)
        return kg_setting_fail(settings, other, "[%s] has both %s and %s; keep one of them",
                               other->section, other->key, p->at->key);
    }
    if (problem->cells_only && fields)
      return kg_setting_fail(settings, fields,
                             "fields = cells keeps means alone, and [probe %s] needs values at "
                             "points; write fields = full",
                             p->name);
  }
  return KEDGE_OK;
}

kedge_status kg_probes_check_file(const kedge_problem *problem, const kg_settings *places)
{
  for (int k = 0; k < places->n; ++k) {
    const kg_setting *const s = &places->items[k];
    const char *const name = kg_section_group(s->section, "probe");
    bool is_given = !name;
    for (int i = 0; i < problem->n_probes && !is_given; ++i)
      is_given = strcmp(problem->probes[i].name, name) == 0 && problem->probes[i].at;
    if (!is_given)
      return kg_setting_fail(&problem->settings, s,
                             "[%s] has no points; add points = x y, x y, ..., line = x0 y0, x1 y1, "
                             "n or file = FILE.csv",
                             s->section);
  }
  return KEDGE_OK;
}

// Points of a CSV file.

enum { COLUMNS_MAX = 1000 };  ///< that a header is looked through

/// Where a field of a line begins; NULL: the line has fewer.
static const char *field_of(const char *line, int number)
{
  for (; number > 0; --number) {
    line += strcspn(line, ",\n");
    if (*line != ',') return NULL;
    ++line;
  }
  return line;
}

/// Whether a field is a name, whatever its case.
static bool is_named(const char *field, char name)
{
  const char *const end = field + strcspn(field, ",\n");
  while (field < end && (isspace((unsigned char)*field) || *field == '"')) ++field;
  if (field == end || tolower((unsigned char)*field) != name) return false;
  for (++field; field < end; ++field)
    if (!isspace((unsigned char)*field) && *field != '"') return false;
  return true;
}

/// A number that fills a field.
static bool read_field(const char *field, double *value)
{
  const char *const end = field ? field + strcspn(field, ",\n") : NULL;
  if (!field || field + strspn(field, " \t\r") >= end) return false;
  const char *const after = read_number(field, value);
  return after && after <= end && after + strspn(after, " \t\r") >= end;
}

/// Whether the line is a header, which names columns.
/// @param[out] column  [dimension]: of x, y and z, counted from 0
static bool find_columns(const char *line, int dimension, int *column)
{
  bool all = true;
  for (int d = 0; d < dimension; ++d) {
    column[d] = -1;
    for (int k = 0; k < COLUMNS_MAX && column[d] < 0; ++k) {
      const char *const field = field_of(line, k);
      if (!field) break;
      if (is_named(field, "xyz"[d])) column[d] = k;
    }
    all = all && column[d] >= 0;
  }
  for (int d = 0; d < dimension && !all; ++d) column[d] = d;
  return all;
}

/// Read the coordinates of a point.
static bool read_line(const char *line, int dimension, const int *column, int64_t i,
                      double *const *x)
{
  bool all = true;
  for (int d = 0; d < dimension; ++d) all = all && read_field(field_of(line, column[d]), x[d] + i);
  return all;
}

/// Whether a line has no point: it is empty or a comment.
static bool is_empty(const char *line)
{
  line += strspn(line, " \t\r");
  return *line == '\n' || *line == '\0' || *line == '#';
}

static int64_t count_lines(const char *text)
{
  int64_t n = 1;
  for (; *text; ++text) n += *text == '\n';
  return n;
}

kedge_status kg_points_parse(kedge_context *ctx, const char *name, const char *text, int dimension,
                             int64_t *n, double **x)
{
  static const char mark[] = "\xef\xbb\xbf";  // of UTF-8, as spreadsheets put it
  const size_t lines = (size_t)count_lines(text);
  const char *const wanted = dimension == 3 ? "x,y,z" : "x,y";
  int column[3];
  int64_t number = 1;
  *n = 0;
  for (int d = 0; d < dimension; ++d) x[d] = NULL;
  for (int d = 0; d < dimension; ++d) KG_TRY(kg_host_alloc(ctx, lines, sizeof *x[d], &x[d]));
  if (strncmp(text, mark, strlen(mark)) == 0) text += strlen(mark);
  bool is_first = true;
  for (const char *line = text; *line; ++number) {
    const char *const next = line + strcspn(line, "\n");
    if (!is_empty(line)) {
      const bool is_header = is_first && find_columns(line, dimension, column);
      KG_REQUIRE(ctx, is_header || read_line(line, dimension, column, *n, x), KEDGE_ERR_INPUT,
                 "%s:%lld: '%.*s' is no point: a line has numbers %s, and the first one may name "
                 "its columns",
                 name, (long long)number, (int)(next - line > 60 ? 60 : next - line), line, wanted);
      *n += !is_header;
      is_first = false;
    }
    line = next + (*next == '\n');
  }
  KG_REQUIRE(ctx, *n > 0, KEDGE_ERR_INPUT, "%s holds no points: write lines %s", name, wanted);
  return KEDGE_OK;
}

static kedge_status points_of_file(kedge_context *ctx, const kg_probe *p, int dimension, int64_t *n,
                                   double **x)
{
  char *text;
  size_t bytes;
  KG_TRY(kg_file_read(ctx, p->file, &text, &bytes));
  kedge_status status = KEDGE_OK;
  if (strlen(text) < bytes)
    status = KG_FAIL(ctx, KEDGE_ERR_INPUT, "%s is no text: it has a zero byte", p->file);
  if (status == KEDGE_OK) status = kg_points_parse(ctx, p->file, text, dimension, n, x);
  free(text);
  return status;
}

/// Coordinate i of n from one to another, which are met to the last bit.
static double between(double first, double last, int64_t i, int64_t n)
{
  const double before = (double)(n - 1 - i), after = (double)i;
  if (after == 0.0 || before == 0.0) return after == 0.0 ? first : last;
  const double sum = first * before + last * after;
  // Coordinates that are next to the largest numbers are divided first.
  return isfinite(sum) ? sum / (before + after)
                       : first * (before / (before + after)) + last * (after / (before + after));
}

kedge_status kg_probe_points(kedge_context *ctx, const kg_probe *p, int dimension, int64_t *n,
                             double **x)
{
  if (p->file) return points_of_file(ctx, p, dimension, n, x);
  KG_REQUIRE(ctx, p->dimension == dimension, KEDGE_ERR_INPUT,
             dimension == 3 ? "a point has two numbers, and the mesh is of tetrahedra: write x y z"
                            : "a point has three numbers, and the mesh is of the plane: write x y");
  const bool is_line = strcmp(p->at->key, "line") == 0;
  *n = p->n;
  for (int d = 0; d < dimension; ++d) {
    KG_TRY(kg_host_alloc(ctx, (size_t)p->n, sizeof *x[d], &x[d]));
    for (int64_t i = 0; i < p->n; ++i)
      x[d][i] = is_line ? between(p->points[d], p->points[dimension + d], i, p->n)
                        : p->points[dimension * i + d];
  }
  return KEDGE_OK;
}

kedge_status kg_probe_blame(kedge_context *ctx, const kedge_problem *problem, const kg_probe *p,
                            kedge_status status)
{
  char sentence[800];
  if (status != KEDGE_ERR_INPUT && status != KEDGE_ERR_IO) return status;
  snprintf(sentence, sizeof sentence, "%s", kedge_context_error(ctx));
  const bool beside = status == KEDGE_ERR_IO && problem->path && p->file[0] != '/';
  (void)kg_problem_fail(ctx, problem, p->at, "%s%s", sentence,
                        beside ? "; the path is relative to the problem file" : "");
  return status;
}

/// Whether a file can be read once: a pipe, a terminal.
static bool is_stream(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

kedge_status kedge_problem_check_probes(const kedge_problem *problem)
{
  KG_REQUIRE(NULL, problem, KEDGE_ERR_ARG, "kedge_problem_check_probes: the problem is NULL");
  for (const kg_probe *p = problem->probes; p < problem->probes + problem->n_probes; ++p) {
    int64_t n;
    double *x[2] = {NULL, NULL};
    if (!p->file || is_stream(p->file)) continue;
    const kedge_status status = kg_probe_points(problem->ctx, p, 2, &n, x);  // z is asked for later
    for (int d = 0; d < 2; ++d) free(x[d]);
    if (status != KEDGE_OK) return kg_probe_blame(problem->ctx, problem, p, status);
  }
  return KEDGE_OK;
}

static const kg_probe *probe_at(const kedge_problem *problem, int index)
{
  return problem && index >= 0 && index < problem->n_probes ? &problem->probes[index] : NULL;
}

int kedge_problem_probe_count(const kedge_problem *problem)
{
  return problem ? problem->n_probes : 0;
}

const char *kedge_problem_probe_name(const kedge_problem *problem, int index)
{
  const kg_probe *const p = probe_at(problem, index);
  return p ? p->name : NULL;
}

const char *kedge_problem_probe_file(const kedge_problem *problem, int index)
{
  const kg_probe *const p = probe_at(problem, index);
  return p ? p->file : NULL;
}

const char *kedge_problem_probe_output(const kedge_problem *problem, int index)
{
  const kg_probe *const p = probe_at(problem, index);
  return p ? p->output : NULL;
}

int64_t kedge_problem_probe_every(const kedge_problem *problem, int index)
{
  const kg_probe *const p = probe_at(problem, index);
  return p ? p->every : 0;
}

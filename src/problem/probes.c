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
  *p = (kg_probe){0};
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

/// Read "x y", up to a comma or the end. @return what follows, NULL: it is something else
static const char *read_point(const char *text, double xy[2])
{
  text = read_number(text, &xy[0]);
  if (!text || !isspace((unsigned char)*text)) return NULL;
  text = read_number(text, &xy[1]);
  if (!text) return NULL;
  text = skip_blanks(text);
  return *text == ',' || *text == '\0' ? text : NULL;
}

kedge_status kg_probe_read_points(const kg_settings *settings, const kg_setting *s, kg_probe *out)
{
  int64_t n = 1;
  for (const char *c = s->value; *c; ++c) n += *c == ',';
  free(out->points);
  KG_TRY(kg_host_alloc(settings->ctx, (size_t)n, 2 * sizeof *out->points, &out->points));
  const char *text = s->value;
  for (int64_t i = 0; i < n; ++i) {
    text = read_point(text + (i > 0), out->points + 2 * i);
    if (!text)
      return kg_setting_fail(settings, s,
                             "point %lld of points is no pair of numbers; write x y, x y, ...",
                             (long long)i + 1);
  }
  out->n = n;
  return KEDGE_OK;
}

kedge_status kg_probe_read_line(const kg_settings *settings, const kg_setting *s, kg_probe *out)
{
  double n = NAN;
  free(out->points);
  KG_TRY(kg_host_alloc(settings->ctx, 2, 2 * sizeof *out->points, &out->points));
  const char *text = read_point(s->value, out->points);
  if (text && *text == ',') text = read_point(text + 1, out->points + 2);
  if (text && *text == ',') text = read_number(text + 1, &n);
  if (!text || isnan(n) || *skip_blanks(text))
    return kg_setting_fail(settings, s,
                           "line is x0 y0, x1 y1, n: its ends and how many points it has, not '%s'",
                           s->value);
  if (n != floor(n) || n < 2 || n > KG_PROBE_POINTS_MAX)
    return kg_setting_fail(settings, s,
                           "a line has a whole number of points from 2 to %d, not %.9g",
                           KG_PROBE_POINTS_MAX, n);
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

/// The columns of x and y, counted from 0.
typedef struct columns {
  int x, y;
} columns;

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
static bool find_columns(const char *line, columns *out)
{
  *out = (columns){-1, -1};
  for (int k = 0; k < 1000; ++k) {
    const char *const field = field_of(line, k);
    if (!field) break;
    if (out->x < 0 && is_named(field, 'x')) out->x = k;
    if (out->y < 0 && is_named(field, 'y')) out->y = k;
  }
  return out->x >= 0 && out->y >= 0;
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

kedge_status kg_points_parse(kedge_context *ctx, const char *name, const char *text, int64_t *n,
                             double **x, double **y)
{
  static const char mark[] = "\xef\xbb\xbf";  // of UTF-8, as spreadsheets put it
  const size_t lines = (size_t)count_lines(text);
  columns at = {0, 1};
  int64_t number = 1;
  *n = 0;
  *y = NULL;
  KG_TRY(kg_host_alloc(ctx, lines, sizeof **x, x));
  KG_TRY(kg_host_alloc(ctx, lines, sizeof **y, y));
  if (strncmp(text, mark, strlen(mark)) == 0) text += strlen(mark);
  bool is_first = true;
  for (const char *line = text; *line; ++number) {
    const char *const next = line + strcspn(line, "\n");
    if (!is_empty(line)) {
      const bool is_header = is_first && find_columns(line, &at);
      if (is_first && !is_header) at = (columns){0, 1};
      KG_REQUIRE(ctx,
                 is_header || (read_field(field_of(line, at.x), *x + *n) &&
                               read_field(field_of(line, at.y), *y + *n)),
                 KEDGE_ERR_INPUT,
                 "%s:%lld: '%.*s' is no point: a line has numbers x,y, and the first one may name "
                 "its columns",
                 name, (long long)number, (int)(next - line > 60 ? 60 : next - line), line);
      *n += !is_header;
      is_first = false;
    }
    line = next + (*next == '\n');
  }
  KG_REQUIRE(ctx, *n > 0, KEDGE_ERR_INPUT, "%s holds no points: write lines x,y", name);
  return KEDGE_OK;
}

static kedge_status points_of_file(kedge_context *ctx, const kg_probe *p, int64_t *n, double **x,
                                   double **y)
{
  char *text;
  size_t bytes;
  KG_TRY(kg_file_read(ctx, p->file, &text, &bytes));
  kedge_status status = KEDGE_OK;
  if (strlen(text) < bytes)
    status = KG_FAIL(ctx, KEDGE_ERR_INPUT, "%s is no text: it has a zero byte", p->file);
  if (status == KEDGE_OK) status = kg_points_parse(ctx, p->file, text, n, x, y);
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

kedge_status kg_probe_points(kedge_context *ctx, const kg_probe *p, int64_t *n, double **x,
                             double **y)
{
  if (p->file) return points_of_file(ctx, p, n, x, y);
  const bool is_line = strcmp(p->at->key, "line") == 0;
  KG_TRY(kg_host_alloc(ctx, (size_t)p->n, sizeof **x, x));
  KG_TRY(kg_host_alloc(ctx, (size_t)p->n, sizeof **y, y));
  *n = p->n;
  for (int64_t i = 0; i < p->n; ++i) {
    const double *const here = is_line ? p->points : p->points + 2 * i;
    (*x)[i] = is_line ? between(here[0], here[2], i, p->n) : here[0];
    (*y)[i] = is_line ? between(here[1], here[3], i, p->n) : here[1];
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
    double *x = NULL, *y = NULL;
    if (!p->file || is_stream(p->file)) continue;
    const kedge_status status = kg_probe_points(problem->ctx, p, &n, &x, &y);
    free(x);
    free(y);
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

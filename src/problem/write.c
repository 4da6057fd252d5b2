// Problem files from settings. What is written is read back as it was, or nothing is written.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/target.h"
#include "problem/keys.h"
#include "problem/problem.h"

/// A line of a key. The lines of a value behind its first are indented. A sign of comments begins
/// one behind a blank alone.
static void print_key(FILE *to, const kg_setting *s)
{
  const bool is_sign = s->value[0] == ';' || s->value[0] == '#';
  fprintf(to, "%s =%s", s->key, is_sign ? "" : " ");
  for (const char *c = s->value; *c; ++c) {
    putc(*c, to);
    if (*c == '\n') fputs("  ", to);
  }
  putc('\n', to);
}

/// Write a section where its first setting stands, with all of its settings.
static void print_section(FILE *to, const kg_settings *settings, int first)
{
  const char *const section = settings->items[first].section;
  for (int i = 0; i < first; ++i)
    if (strcmp(settings->items[i].section, section) == 0) return;
  fprintf(to, "%s[%s]\n", first > 0 ? "\n" : "", section);
  for (int i = first; i < settings->n; ++i)
    if (settings->items[i].key[0] && strcmp(settings->items[i].section, section) == 0)
      print_key(to, &settings->items[i]);
}

static void print(FILE *to, void *user)
{
  const kg_settings *const settings = user;
  for (int i = 0; i < settings->n; ++i) print_section(to, settings, i);
}

kedge_status kg_settings_text(const kg_settings *settings, char **text, size_t *bytes)
{
  FILE *const to = open_memstream(text, bytes);
  if (to) print(to, (void *)settings);
  return kg_text_end(settings->ctx, to, "the text of a problem", text);
}

/// Leave out what says nothing in an expression: blanks around its lines, line ends behind them.
static void trim_lines(char *text)
{
  char *to = text;
  for (char *line = text, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n > 0 && kg_is_blank(line[n - 1])) --n;
    memmove(to, line, n);
    to += n;
    if (next) *to++ = '\n';
  }
  while (to > text && to[-1] == '\n') --to;
  *to = '\0';
}

static bool are_same(const char *read, const char *value, bool is_expression)
{
  char *const copy = strdup(value);
  if (copy && is_expression) trim_lines(copy);
  const bool same = copy && strcmp(read, copy) == 0;
  free(copy);
  return same;
}

/// Whether text is read as one section, and as a setting of it if this has a key.
static bool is_read_back(const kg_setting *s, const char *text, size_t bytes)
{
  kg_settings settings = {0}, sections = {0};
  const kg_problem_key *key;
  bool same = kg_settings_read(&settings, &sections, text, bytes) == KEDGE_OK && sections.n == 1 &&
              strcmp(sections.items[0].section, s->section) == 0;
  const kg_setting *const found = same ? kg_settings_find(&settings, s->section, s->key) : NULL;
  if (s->value)
    same = found && settings.n - (kg_settings_find(&settings, s->section, "") != NULL) == 1 &&
           kg_key_find(&settings, found, &key) == KEDGE_OK &&
           are_same(found->value, s->value, key->is_expression);
  kg_settings_free(&settings);
  kg_settings_free(&sections);
  return same;
}

/// Whether a setting alone is read back.
static kedge_status try(kedge_context *ctx, const kg_setting *s, bool *same)
{
  char *text = NULL;
  size_t bytes;
  kg_setting one = *s;
  const kg_settings alone = {.ctx = ctx, .items = &one, .n = 1};
  const kedge_status status = kg_settings_text(&alone, &text, &bytes);
  *same = status == KEDGE_OK && is_read_back(s, text, bytes);
  free(text);
  return status;
}

/// Refuse a setting that a file cannot hold.
static kedge_status check(kedge_context *ctx, const kg_setting *s)
{
  char none[] = "";
  const kg_setting section = {.section = s->section, .key = none};
  bool same;
  KG_REQUIRE(ctx, s->value || !s->function, KEDGE_ERR_INPUT,
             "[%s] %s is a function; a problem file holds expressions as text alone", s->section,
             s->key);
  KG_TRY(try(ctx, s, &same));
  if (same) return KEDGE_OK;
  KG_TRY(try(ctx, &section, &same));
  KG_REQUIRE(ctx, same, KEDGE_ERR_INPUT,
             "a problem file cannot hold a section '%s': ']' ends its name, ' #' and ' ;' begin a "
             "comment, and a control character is none of it; give a group by its number",
             s->section);
  return KG_FAIL(ctx, KEDGE_ERR_INPUT,
                 "a problem file cannot hold '%s' as %s of '%s': ' #' and ' ;' begin a comment, "
                 "blanks around it are left out, and a control character is none of it",
                 s->value, s->key, s->section);
}

/// A file that is read, by a path that does not depend on where the problem file is.
/// @param[in] from  the path as it is opened; NULL: there is none
static kedge_status make_absolute(const kedge_problem *p, kg_setting *file, const char *from)
{
  if (!file || !from) return KEDGE_OK;
  char *const folder = from[0] == '/' ? strdup("") : getcwd(NULL, 0);
  KG_REQUIRE(p->ctx, folder, KEDGE_ERR_IO, "cannot tell the current folder: %s", strerror(errno));
  char *path;
  const size_t size = strlen(folder) + strlen(from) + 2;
  const kedge_status status = kg_host_alloc(p->ctx, size, 1, &path);
  if (status == KEDGE_OK) {
    snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", from);
    free(file->value);
    file->value = path;
  }
  free(folder);
  return status;
}

/// The [mesh] file, and those of probes.
static kedge_status make_all_absolute(const kedge_problem *p, kg_settings *settings)
{
  KG_TRY(make_absolute(p, kg_settings_find(settings, "mesh", "file"), p->mesh_file));
  for (int i = 0; i < p->n_probes; ++i) {
    const kg_probe *const probe = &p->probes[i];
    if (probe->file)
      KG_TRY(make_absolute(p, kg_settings_find(settings, probe->at->section, "file"), probe->file));
  }
  return KEDGE_OK;
}

kedge_status kedge_problem_write(const kedge_problem *problem, const char *path)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_write: problem is NULL");
  KG_REQUIRE(problem->ctx, path != NULL, KEDGE_ERR_ARG, "kedge_problem_write: path is NULL");
  kg_settings settings;
  KG_TRY(kg_settings_copy(&problem->settings, &settings));
  kedge_status status = make_all_absolute(problem, &settings);
  for (int i = 0; i < settings.n && status == KEDGE_OK; ++i)
    status = check(problem->ctx, &settings.items[i]);
  if (status == KEDGE_OK)
    status = kg_target_stream(problem->ctx, path, "problem", print, &settings);
  kg_settings_free(&settings);
  return status;
}

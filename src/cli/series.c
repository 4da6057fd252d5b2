#include "cli/series.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const char *bare(const char *path)
{
  const char *const slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *kg_series_name(const char *path, int64_t i)
{
  const char *const dot = strrchr(bare(path), '.');
  const int stem = (int)(dot ? (size_t)(dot - path) : strlen(path));
  char *name;
  if (asprintf(&name, "%.*s.%04lld%s", stem, path, (long long)i, path + stem) < 0) return NULL;
  return name;
}

bool kg_series_has_room(const char *path)
{
  enum { MORE = 20 };  // a point, and as many digits as a number has
  return strlen(bare(path)) + MORE <= NAME_MAX && strlen(path) + MORE < PATH_MAX;
}

/// Make room for one more file.
static bool grow(kg_series *s)
{
  if (s->n < s->room) return true;
  const int64_t room = 2 * s->room + 16;
  char **const names = realloc(s->names, (size_t)room * sizeof *names);
  if (names) s->names = names;
  const char **const bares = realloc(s->bare, (size_t)room * sizeof *bares);
  if (bares) s->bare = bares;
  double *const times = realloc(s->times, (size_t)room * sizeof *times);
  if (times) s->times = times;
  if (!names || !bares || !times) return false;
  s->room = room;
  return true;
}

/// Add a file that is there, whose name is owned from now on.
static void keep(kg_series *s, char *name, double t)
{
  s->names[s->n] = name;
  s->bare[s->n] = bare(name);
  s->times[s->n++] = t;
}

kedge_status kg_series_add(kedge_context *ctx, kg_series *s, double t, kg_series_write *write,
                           void *user)
{
  char *const name = !grow(s)  ? NULL
                     : s->list ? kg_series_name(s->path, s->last + 1)
                               : strdup(s->path);
  if (!name) return KEDGE_ERR_MEMORY;
  const kedge_status status = write(user, name);
  if (status != KEDGE_OK) {
    free(name);
    return status;
  }
  ++s->last;
  keep(s, name, t);
  return s->list ? kedge_series_write(ctx, s->list, s->n, s->bare, s->times) : KEDGE_OK;
}

kedge_status kg_series_resume(kedge_context *ctx, kg_series *s, int64_t n, const double *t)
{
  if (!s->list) return KEDGE_OK;
  for (s->last = 0; s->last < n;) {
    char *const name = grow(s) ? kg_series_name(s->path, ++s->last) : NULL;
    if (!name) return KEDGE_ERR_MEMORY;
    if (access(name, F_OK) == 0)
      keep(s, name, t[s->last - 1]);
    else
      free(name);
  }
  return s->n > 0 ? kedge_series_write(ctx, s->list, s->n, s->bare, s->times) : KEDGE_OK;
}

const char *kg_series_last(const kg_series *s)
{
  return s->n > 0 ? s->names[s->n - 1] : NULL;
}

void kg_series_print(const kg_series *s, const char *kind)
{
  if (s->n == 0) return;
  if (s->list)
    printf("%-12s %s (%lld file%s, the last %s)\n", kind, kg_cli_shown(s->list), (long long)s->n,
           kg_cli_plural(s->n), kg_cli_shown(s->bare[s->n - 1]));
  else
    printf("%-12s %s\n", kind, kg_cli_shown(s->path));
}

void kg_series_free(kg_series *s)
{
  for (int64_t i = 0; i < s->n; ++i) free(s->names[i]);
  free(s->names);
  free(s->bare);
  free(s->times);
  *s = (kg_series){0};
}

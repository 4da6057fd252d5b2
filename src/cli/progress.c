#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/clock.h"

static const double redraw_seconds = 0.1;

bool kg_progress_is_due(double *drawn_at)
{
  const double now = kg_seconds();
  if (*drawn_at != 0 && now - *drawn_at < redraw_seconds) return false;
  *drawn_at = now;
  return true;
}

void kg_convergence_add(kg_convergence *c, const kedge_progress *p)
{
  if (!(p->relative_residual > 0)) return;
  const double digits = -log10(p->relative_residual);
  if (c->n == 0) *c = (kg_convergence){.spacing = 1, .digits = digits};
  if (digits > c->digits) c->digits = digits;
  const double last = c->n ? c->samples[c->n - 1].iteration : -INFINITY;
  if ((double)p->iteration - last < (double)c->spacing) return;
  if (c->n == KG_PROGRESS_SAMPLES) {
    for (int i = 0; i < KG_PROGRESS_SAMPLES / 2; ++i) c->samples[i] = c->samples[2 * i];
    c->n = KG_PROGRESS_SAMPLES / 2;
    c->spacing *= 2;
  }
  c->samples[c->n++] = (struct kg_convergence_sample){(double)p->iteration, p->seconds, c->digits};
}

bool kg_convergence_estimate(const kg_convergence *c, const kedge_progress *p,
                             double *digits_per_100, double *seconds_left)
{
  int first = 0;
  while (first + 1 < c->n && c->samples[first + 1].iteration <= 0.5 * (double)p->iteration) ++first;
  if (first >= c->n) return false;
  const struct kg_convergence_sample *from = &c->samples[first];
  const double iterations = (double)p->iteration - from->iteration;
  const double gained = c->digits - from->digits, seconds = p->seconds - from->seconds;
  if (!(iterations > 0 && gained > 0 && seconds >= 0)) return false;
  *digits_per_100 = 100 * gained / iterations;
  const double missing = -log10(p->tolerance) - c->digits;
  *seconds_left = missing > 0 ? missing * seconds / gained : 0;
  return true;
}

bool kg_progress_wanted(void)
{
  const char *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void kg_progress_duration(double seconds, char *text, size_t size)
{
  if (seconds < 99.5)
    snprintf(text, size, "%.0f s", seconds);
  else if (seconds < 99.5 * 60)
    snprintf(text, size, "%.0f min", seconds / 60);
  else
    snprintf(text, size, "%.0f h", fmin(seconds / 3600, 9999));
}

int kg_progress_format(const kg_progress_line *line, const kedge_progress *p, char *text,
                       size_t size)
{
  const char *title = kg_cli_stage_title(p->stage);
  if (p->finished) return snprintf(text, size, "%s: %.3f s", title, p->seconds);
  if (p->iteration == 0) return snprintf(text, size, "%s ...", title);
  // The line fits into 80 columns: no step names here.
  const char *step = strstr(title, " (");
  const int length = step ? (int)(step - title) : (int)strlen(title);
  const int n = snprintf(text, size, "%.*s: iteration %lld, residual %.1e -> %.0e", length, title,
                         (long long)p->iteration, p->relative_residual, p->tolerance);
  double rate, left;
  if (n < 0 || (size_t)n >= size || !kg_convergence_estimate(&line->convergence, p, &rate, &left))
    return n;
  char time[32];
  kg_progress_duration(left, time, sizeof time);
  return n + snprintf(text + n, size - (size_t)n, ", %.2g digits/100, %s left", rate, time);
}

void kg_progress_cut(char *text, int columns)
{
  while ((int)strlen(text) > columns) {
    char *const comma = strrchr(text, ',');
    if (comma == NULL) {
      text[columns] = '\0';
      return;
    }
    *comma = '\0';
  }
}

/// Columns of the terminal less one, so that the cursor stays on the line.
static int usable_columns(void)
{
  struct winsize window;
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  return known ? window.ws_col - 1 : 79;
}

void kg_progress_put(char *text)
{
  kg_progress_cut(text, usable_columns());
  fprintf(stderr, "\r%s\033[K", text);
  fflush(stderr);
}

bool kg_progress_draw(void *user, const kedge_progress *progress)
{
  kg_progress_line *line = user;
  if (strcmp(line->stage, progress->stage) != 0) {
    snprintf(line->stage, sizeof line->stage, "%s", progress->stage);
    line->convergence = (kg_convergence){0};
    line->drawn_at = 0;
  }
  const bool first = line->convergence.n == 0;
  if (progress->iteration > 0)
    kg_convergence_add(&line->convergence, progress);
  else if (!first && !progress->finished)
    return true;  // between two iterations: the line of the last one stays
  // The beginning, the first residual and the end of a stage are always drawn.
  if (progress->finished || (first && progress->iteration > 0)) line->drawn_at = 0;
  if (!kg_progress_is_due(&line->drawn_at)) return true;
  char text[256];
  kg_progress_format(line, progress, text, sizeof text);
  kg_progress_put(text);
  return true;
}

void kg_progress_begin(kg_progress_line *line, const char *stage)
{
  kg_progress_draw(line, &(kedge_progress){.stage = stage});
}

void kg_progress_clear(const kg_progress_line *line)
{
  if (line->stage[0]) fputs("\r\033[K", stderr);
}

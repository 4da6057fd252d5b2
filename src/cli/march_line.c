#include "cli/march_line.h"

#include <stdio.h>

#include "cli/progress.h"
#include "core/clock.h"

int kg_march_line_format(const kg_march_line *line, int64_t iteration, double seconds, char *text,
                         size_t size)
{
  const double steps = (double)line->steps;
  char running[40] = "", mean[60] = "", left[40] = "", time[32];
  if (iteration > 0) snprintf(running, sizeof running, ": iteration %lld", (long long)iteration);
  if (line->steps > 0 && line->t > line->from) {
    if (line->iterations > 0)
      snprintf(mean, sizeof mean, ", %.0f iteration%s a step", (double)line->iterations / steps,
               line->iterations == line->steps ? "" : "s");
    kg_progress_duration((line->end - line->t) / (line->t - line->from) * seconds, time,
                         sizeof time);
    snprintf(left, sizeof left, ", %s left", time);
  }
  return snprintf(text, size, "t = %.6g of %.6g, step %lld%s%s%s", line->t, line->end,
                  (long long)line->steps + 1, running, left, mean);
}

bool kg_march_line_draw(void *user, const kedge_progress *progress)
{
  kg_march_line *const line = user;
  if (!kg_progress_is_due(&line->drawn_at)) return true;
  char text[256];
  kg_march_line_format(line, progress->iteration, kg_seconds() - line->begun, text, sizeof text);
  kg_progress_put(text);
  return true;
}

/// @file
/// The line on the terminal that follows what moves.
#pragma once
#include <kedge/march.h>
#include <stddef.h>

/// What a march has done when a step ends.
typedef struct kg_march_line {
  double begun;   ///< kg_seconds() before its first step, which
  double from;    ///< began at this time
  double t, end;  ///< the time that is reached, and the one to reach
  int64_t steps;  ///< that are done
  int64_t iterations;
  double drawn_at;
} kg_march_line;

/// A kedge_progress_function that always goes on; `user` is a kg_march_line.
bool kg_march_line_draw(void *user, const kedge_progress *progress);
/// The line as text; snprintf's conventions.
/// @param[in] iteration  of the solve that runs; 0: none does
/// @param[in] seconds    since the first step began
int kg_march_line_format(const kg_march_line *line, int64_t iteration, double seconds, char *text,
                         size_t size);

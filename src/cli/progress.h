/// @file
/// One line on the terminal that follows a solve.
#pragma once
#include <kedge/kedge.h>

#define KG_PROGRESS_SAMPLES 32

/// How the residual falls. Samples are evenly spaced over the whole solve: when they are full,
/// every second is dropped and the spacing doubles.
typedef struct kg_convergence {
  int n;
  int64_t spacing;
  struct kg_convergence_sample {
    double iteration, seconds;
    double digits;  ///< -log10 of the smallest residual so far: CG residuals go up and down
  } samples[KG_PROGRESS_SAMPLES];
  double digits;  ///< now
} kg_convergence;

void kg_convergence_add(kg_convergence *c, const kedge_progress *p);
/// Rate over the latter half of the iterations and the time left at that rate. Returns false while
/// nothing can be said or the residual does not fall.
bool kg_convergence_estimate(const kg_convergence *c, const kedge_progress *p,
                             double *digits_per_100, double *seconds_left);

/// The state of the line; zero-initialise.
typedef struct kg_progress_line {
  kg_convergence convergence;
  char stage[32];
  double drawn_at;  ///< kg_seconds(); 0: not yet in this stage
} kg_progress_line;

/// Is there a terminal to draw on?
bool kg_progress_wanted(void);
/// A kedge_progress_function that always goes on; `user` is a kg_progress_line.
bool kg_progress_draw(void *user, const kedge_progress *progress);
/// Say that a stage begins that the library does not announce.
void kg_progress_begin(kg_progress_line *line, const char *stage);
/// Remove the line from the terminal.
void kg_progress_clear(const kg_progress_line *line);
/// The line as text, without cursor movements; snprintf's conventions.
int kg_progress_format(const kg_progress_line *line, const kedge_progress *p, char *text,
                       size_t size);
/// Whether a line is to be drawn again. @param[in,out] drawn_at  kg_seconds(); 0: not yet
bool kg_progress_is_due(double *drawn_at);
/// Draw a line, which is cut to the terminal's width.
void kg_progress_put(char *text);
/// A duration in the unit a person would use.
void kg_progress_duration(double seconds, char *text, size_t size);
/// Shorten a line to `columns` columns: whole parts, which commas separate, go from its end.
void kg_progress_cut(char *text, int columns);

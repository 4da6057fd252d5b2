/// @file
/// One clock for all timings.
#pragma once
#include <time.h>

/// Seconds of a clock that never goes back.
static inline double kg_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

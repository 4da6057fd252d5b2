/// @file
/// Points on the edges of the reference triangle, as tests write them down.
#pragma once

/// Where local edge l is at t in [-1,1], counterclockwise.
static inline void place_on_edge(int l, double t, double *r, double *s)
{
  *r = l == 0 ? t : l == 1 ? -t : -1.0;
  *s = l == 0 ? -1.0 : l == 1 ? t : -t;
}

/// @file
/// Decisions about one triangle while a mesh is built, for host and GPU alike.
#pragma once
#include <math.h>
#include <stdint.h>

#include "core/inline.h"

/// Coordinates beyond this overflow when they are multiplied.
#define KG_COORDINATE_MAX 1e150
/// A triangle is degenerate when twice its area is at most this share of its longest edge squared:
/// far below any useful element, far above the rounding of the area.
#define KG_FLATNESS 1e-12

typedef enum kg_fault {
  KG_SOUND,
  KG_BAD_NUMBER,
  KG_REPEATED,
  KG_FLAT,
  KG_NOT_CONVEX,   ///< a quadrilateral alone
  KG_TURNED_OVER,  ///< a curved element alone
} kg_fault;

/// Whether a number can be a coordinate: not if it is NaN or too large.
KG_INLINE bool kg_is_coordinate(double x)
{
  return fabs(x) <= KG_COORDINATE_MAX;
}

KG_INLINE double kg_distance_squared(const double *p, const double *q)
{
  return (q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]);
}

/// Look at one triangle.
/// @param[in]  flatness   KG_FLATNESS
/// @param[out] clockwise  set when the triangle has three different vertices that exist
KG_INLINE kg_fault kg_examine_triangle(const double *vertices, int64_t n_vertices, const int32_t *v,
                                       double flatness, bool *clockwise)
{
  for (int i = 0; i < 3; ++i)
    if (v[i] < 0 || v[i] >= n_vertices) return KG_BAD_NUMBER;
  if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) return KG_REPEATED;
  const double *p = vertices + 2 * (int64_t)v[0], *q = vertices + 2 * (int64_t)v[1],
               *r = vertices + 2 * (int64_t)v[2];
  const double twice_area = (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]);
  const double longest =
      fmax(fmax(kg_distance_squared(p, q), kg_distance_squared(q, r)), kg_distance_squared(r, p));
  *clockwise = twice_area < 0;
  return fabs(twice_area) > flatness * longest ? KG_SOUND : KG_FLAT;
}

/// |sum (d / |d|)^2|^2 of the three sides d = dx + i dy: the square of a triangle's alignment.
KG_INLINE double kg_alignment_squared(const double *dx, const double *dy)
{
  double re = 0.0, im = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double square = dx[i] * dx[i] + dy[i] * dy[i];
    re += (dx[i] * dx[i] - dy[i] * dy[i]) / square;
    im += 2 * dx[i] * dy[i] / square;
  }
  return re * re + im * im;
}

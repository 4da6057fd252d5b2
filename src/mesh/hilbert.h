/// @file
/// Order along a Hilbert curve: elements near each other in the plane get numbers near each other.
#pragma once
#include "core/inline.h"
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

/// Levels of the curve: cells of 6e-8 of the box; what shares a cell keeps its order.
enum { KG_HILBERT_LEVELS = 24 };

/// The square that the cells of the curve fill, for points that are sums of an element's corners.
typedef struct kg_hilbert_box {
  double x, y;   ///< lowest corner
  double scale;  ///< cells a unit: square ones, whatever the shape of the box
} kg_hilbert_box;

KG_INLINE kg_hilbert_box kg_hilbert_box_of(double xmin, double ymin, double xmax, double ymax)
{
  const double width = xmax - xmin, height = ymax - ymin;
  const double extent = width > height ? width : height;
  const kg_hilbert_box box = {xmin, ymin, extent > 0 ? ((1 << KG_HILBERT_LEVELS) - 1) / extent : 0};
  return box;
}

/// Place on the curve of a cell, x + 2^32 y, both below 2^KG_HILBERT_LEVELS. Free of branches, so
/// that a loop over cells vectorises.
KG_INLINE uint64_t kg_hilbert_key(uint64_t cell)
{
  uint32_t x = (uint32_t)cell, y = (uint32_t)(cell >> 32);
  uint64_t key = 0;
#ifndef __CUDACC__
#pragma GCC unroll 24  // else the loop over cells does not vectorise
#endif
  for (int level = KG_HILBERT_LEVELS - 1; level >= 0; --level) {
    const uint32_t right = x >> level & 1, upper = y >> level & 1;
    key = key << 2 | ((3 * right) ^ upper);
    const uint32_t lower_half = upper - 1;                  // all ones in the lower half
    const uint32_t lower_right = lower_half & (0 - right);  // all ones in the lower right quarter
    x ^= lower_right;
    y ^= lower_right;
    const uint32_t exchange = (x ^ y) & lower_half;
    x ^= exchange;
    y ^= exchange;
  }
  return key;
}

/// The sum of the n corners of an element, component k: n times their mean.
KG_INLINE double kg_corner_sum(const double *vertices, const int32_t *v, int n, int k)
{
  const double sum = vertices[2 * (int64_t)v[0] + k] + vertices[2 * (int64_t)v[1] + k] +
                     vertices[2 * (int64_t)v[2] + k];
  return n == 3 ? sum : sum + vertices[2 * (int64_t)v[3] + k];
}

/// The cell of an element of n corners, as kg_hilbert_key() takes it.
KG_INLINE uint64_t kg_hilbert_cell(kg_hilbert_box box, const double *vertices, const int32_t *v,
                                   int n)
{
  const double x = (kg_corner_sum(vertices, v, n, 0) - box.x) * box.scale;
  const double y = (kg_corner_sum(vertices, v, n, 1) - box.y) * box.scale;
  return (uint64_t)(uint32_t)(int32_t)x | (uint64_t)(uint32_t)(int32_t)y << 32;
}

KEDGE_END_DECLS

/// @file
/// Whether values at the points of a product rule of n x n points, or n x n x n, are those of
/// something smooth: the parts of highest degree that the points see, n - 1 along rows and across
/// them, beside the integral of the absolute values. A spike that one point sees has both of one
/// size; of what the rule integrates well the first is far less.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/inline.h"

/// A load whose parts of highest degree are more than this part of it is looked at with more
/// points: at order 1, with four points a direction, a sine of 20 elements a period has 1e-3.
#define KG_ROUGHNESS 1e-3

/// The polynomial of degree n - 1 that is orthogonal to all of lower degree, at the points of a
/// Gauss rule, where the largest value is 1: values times weights are what divided differences
/// have.
KG_INLINE void kg_roughness_top(int n, const double *x, const double *weight, double *top)
{
  double most = 0.0;
  for (int k = 0; k < n; ++k) {
    double product = weight[k];
    for (int j = 0; j < n; ++j)
      if (j != k) product *= x[k] - x[j];
    top[k] = 1.0 / product;
    if (fabs(top[k]) > most) most = fabs(top[k]);
  }
  for (int k = 0; k < n; ++k) top[k] /= most;
}

/// Sums over the points of an element.
typedef struct kg_roughness {
  double size;   ///< of the absolute values times weights
  double along;  ///< of the absolute parts of highest degree of the rows
  double across;
} kg_roughness;

/// Add a row: values times weights, `stride` apart.
/// @param[in] top  [n]: along rows
/// @param[in] top_of_row  across them
KG_INLINE void kg_roughness_add(int n, const double *top, double top_of_row, const double *weighted,
                                int stride, kg_roughness *to)
{
  double part = 0.0, sum = 0.0;
  for (int a = 0; a < n; ++a) {
    const double value = weighted[a * stride];
    part += top[a] * value;
    sum += value;
    to->size += fabs(value);
  }
  to->along += fabs(part);
  to->across += top_of_row * sum;
}

/// Add a layer of a rule in space, n rows: parts of highest degree are those along its rows, across
/// them, and across layers.
/// @param[in] top_of_row  [n]
KG_INLINE void kg_roughness_add_layer(int n, const double *top, const double *top_of_row,
                                      double top_of_layer, const double *weighted, kg_roughness *to)
{
  kg_roughness layer = {0.0, 0.0, 0.0};
  double sum = 0.0;
  for (int row = 0; row < n; ++row)
    kg_roughness_add(n, top, top_of_row[row], weighted + row * n, 1, &layer);
  for (int q = 0; q < n * n; ++q) sum += weighted[q];
  to->size += layer.size;
  to->along += layer.along + fabs(layer.across);
  to->across += top_of_layer * sum;
}

/// @param[in] least  parts that are less are rounding
KG_INLINE bool kg_is_rough(const kg_roughness *of, double least)
{
  return of->along + fabs(of->across) > KG_ROUGHNESS * (of->size + least);
}

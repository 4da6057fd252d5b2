/// @file
/// Polynomials at any point of an element, for host code and kernels. Coordinates are those of the
/// triangle (0, 0), (1, 0), (0, 1) or of the square [0, 1]^2.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "core/inline.h"

/// Polynomials that are given by n numbers each: one of `order` on a shape is the sum over its
/// orthogonal polynomials of their coefficients, which are a row of the table times the numbers.
typedef struct kg_polynomials {
  bool triangle;
  int order, n;
  const double *table;  ///< [polynomial][n]
} kg_polynomials;

/// A row of the table times the numbers.
KG_INLINE double kg_polynomial_coefficient(int n, const double *row, const double *numbers)
{
  double sum = 0.0;
  for (int j = 0; j < n; ++j) sum += row[j] * numbers[j];
  return sum;
}

/// P_{j+1} of the Jacobi polynomials (a, 0) at z, from P_j and P_{j-1}.
KG_INLINE double kg_next_jacobi(int j, double a, double z, double now, double before)
{
  const double s = 2.0 * j + a;
  if (j == 0) return 0.5 * (a + (a + 2.0) * z);
  return ((s + 1.0) * ((s + 2.0) * s * z + a * a) * now - 2.0 * j * (j + a) * (s + 2.0) * before) /
         (2.0 * (j + 1.0) * (j + a + 1.0) * s);
}

/// The products across (i) times up (i, j): on the triangle of degree i + j.
KG_INLINE double kg_polynomial_at(const kg_polynomials *p, const double *numbers, double x,
                                  double y)
{
  const double u = p->triangle ? 2.0 * x + y - 1.0 : 2.0 * x - 1.0, t = p->triangle ? 1.0 - y : 1.0;
  const double *row = p->table;
  double across = 1.0, across_before = 0.0, sum = 0.0;
  for (int i = 0; i <= p->order; ++i) {
    const int last = p->triangle ? p->order - i : p->order;
    const double a = p->triangle ? 2.0 * i + 1.0 : 0.0;
    double up = 1.0, before = 0.0;
    for (int j = 0; j <= last; ++j, row += p->n) {
      sum += across * up * kg_polynomial_coefficient(p->n, row, numbers);
      const double next = kg_next_jacobi(j, a, 2.0 * y - 1.0, up, before);
      before = up;
      up = next;
    }
    const double next = ((2.0 * i + 1.0) * u * across - i * t * t * across_before) / (i + 1.0);
    across_before = across;
    across = next;
  }
  return sum;
}

/// Powers x^i y^j of a map of order `geometry`, those of j one behind the other.
KG_INLINE int kg_powers(bool triangle, int geometry)
{
  return triangle ? (geometry + 1) * (geometry + 2) / 2 : (geometry + 1) * (geometry + 1);
}

/// Where a map takes (x, y), from its first corner, and its derivatives.
/// @param[in]  c    [power][2]; the first is the corner
/// @param[out] out  [3][2]: the place, its derivatives by x and by y
KG_INLINE void kg_map_at(bool triangle, int geometry, const double *c, double x, double y,
                         double out[3][2])
{
  for (int d = 0; d < 2; ++d) {
    double value = 0.0, by_x = 0.0, by_y = 0.0;
    int k = kg_powers(triangle, geometry);
    for (int j = geometry; j >= 0; --j) {
      double row = 0.0, slope = 0.0;
      for (int i = triangle ? geometry - j : geometry; i >= 0; --i) {
        --k;
        slope = slope * x + row;
        row = row * x + (k > 0 ? c[2 * k + d] : 0.0);
      }
      by_y = by_y * y + value;
      value = value * y + row;
      by_x = by_x * y + slope;
    }
    out[0][d] = value;
    out[1][d] = by_x;
    out[2][d] = by_y;
  }
}

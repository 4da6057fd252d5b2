/// @file
/// Polynomials at any point of an element, for host code and kernels. Coordinates are those of the
/// triangle (0, 0), (1, 0), (0, 1), of the square [0, 1]^2, or of the tetrahedron that has the
/// origin and a corner at 1 on every axis.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kedge/base.h"
#include "core/inline.h"

enum {
  KG_NODES_ACROSS = KEDGE_ORDER_MAX + 2,
  KG_NODES_LISTED = KG_NODES_ACROSS * (KG_NODES_ACROSS + 1) * (KG_NODES_ACROSS + 2) / 6
};

/// Polynomials by values at the equispaced nodes of an order.
typedef struct kg_nodal {
  bool triangle;
  int order, n;
  double part[KG_NODES_ACROSS];    ///< 1, 1/2, 1/3, ...
  uint16_t node[KG_NODES_LISTED];  ///< numbers of the nodes, row after row up, layer after layer
} kg_nodal;

/// The polynomials in z of degree 0 to `order` that are 1 at z = degree and 0 at 0, 1, ... below.
KG_INLINE void kg_falling(const kg_nodal *p, double z, double *out)
{
  out[0] = 1.0;
  for (int k = 0; k < p->order; ++k) out[k + 1] = out[k] * ((z - k) * p->part[k]);
}

/// The value at (x, y). The function that is 1 at a node and 0 at the others is a product of these
/// polynomials, in barycentric coordinates times the order: three of a triangle, four of a square,
/// which are x, 1 - x, y, 1 - y.
KG_INLINE double kg_nodal_value(const kg_nodal *p, const double *values, double x, double y)
{
  double across[KG_NODES_ACROSS], up[KG_NODES_ACROSS], rest[KG_NODES_ACROSS], sum = 0.0;
  const int n = p->order;
  const uint16_t *node = p->node;
  kg_falling(p, n * x, across);
  kg_falling(p, n * y, up);
  kg_falling(p, p->triangle ? n * (1.0 - x - y) : n * (1.0 - x), rest);
  if (!p->triangle) {
    for (int i = 0; i <= n; ++i) across[i] *= rest[n - i];
    kg_falling(p, n * (1.0 - y), rest);
    for (int j = 0; j <= n; ++j) up[j] *= rest[n - j];
    for (int k = 0; k <= n; ++k) rest[k] = 1.0;
  }
  for (int j = 0; j <= n; ++j) {
    const int last = p->triangle ? n - j : n;
    double row = 0.0;
    for (int i = 0; i <= last; ++i) row += across[i] * rest[last - i] * values[*node++];
    sum += up[j] * row;
  }
  return sum;
}

/// Likewise at (x, y, z) in a tetrahedron: a product of four, one of them in 1 - x - y - z.
KG_INLINE double kg_nodal_value_in_space(const kg_nodal *p, const double *values, double x,
                                         double y, double z)
{
  double across[KG_NODES_ACROSS], up[KG_NODES_ACROSS], rest[KG_NODES_ACROSS];
  double deep = 1.0, sum = 0.0;
  const int n = p->order;
  const uint16_t *node = p->node;
  kg_falling(p, n * x, across);
  kg_falling(p, n * y, up);
  kg_falling(p, n * (1.0 - x - y - z), rest);
  for (int k = 0; k <= n; ++k) {
    double layer = 0.0;
    for (int j = 0; j <= n - k; ++j) {
      double row = 0.0;
      for (int i = 0; i <= n - k - j; ++i) row += across[i] * rest[n - k - j - i] * values[*node++];
      layer += up[j] * row;
    }
    sum += deep * layer;
    deep *= (n * z - k) / (k + 1);
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

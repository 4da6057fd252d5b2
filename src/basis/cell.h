/// @file
/// Shapes of elements and of their facets.
///
/// Corners of a plane shape run counterclockwise; its facet l runs from corner l to the next one.
/// The reference triangle has its right angle in (-1, -1) and legs of length 2, the reference
/// quadrilateral is [-1, 1]^2. The reference tetrahedron is {r, s, t >= -1, r + s + t <= -1}; its
/// facet l is the one opposite corner l, with the other corners in ascending order.
///
/// The spaces of a shape: u in P_P on triangles and tetrahedra, Q_P on quadrilaterals, with an
/// orthonormal basis of which that of order P is the beginning of that of order P + 1, the constant
/// first; the trace in P_P of a facet, with the basis of the facet's shape; fluxes in P_P^d on
/// triangles and tetrahedra, Q_{P+1,P} x Q_{P,P+1} on quadrilaterals. A flux function has one
/// component: the first of them are along r, then as many along s, and t; they are orthonormal too.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

enum {
  KG_FACETS_MAX = 4,           ///< facets, and corners, of any shape
  KG_SPACE_ORDER_MAX = 6,      ///< highest order P in space
  KG_SPACE_FACET_MAX = 28,     ///< m there
  KG_SPACE_MODES_MAX = 120,    ///< N* there
  KG_SPACE_FLUX_MAX = 3 * 84,  ///< S there
  KG_GEOMETRY_MAX = 5,         ///< highest order of the map of an element
  KG_NODES_MAX = (KG_GEOMETRY_MAX + 1) * (KG_GEOMETRY_MAX + 1),  ///< nodes of such a map
};

typedef struct kg_cell {
  const char *name, *plural;  ///< for sentences
  int dimension, n_vertices, n_facets;
  const struct kg_cell *facet;         ///< shape of each facet; of a segment NULL
  int facet_corner[KG_FACETS_MAX][3];  ///< [facet]: its corners; of a plane shape where it begins
                                       ///< and ends
  double corner[KG_FACETS_MAX][3];     ///< [corner]: r, s, t in the reference shape
  double measure;                      ///< of the reference shape

  int (*n_modes)(int order);  ///< N
  int (*n_flux)(int order);   ///< S, all components; NULL, as what follows, of a segment
  // Points `at` are [dimension] coordinates; of lists of points, [dimension] arrays.
  /// Values and derivatives of the modes, [N] each; grad: [dimension] arrays, or NULL.
  void (*modes)(int order, const long double *at, long double *phi, long double *const *grad);
  /// Values of the flux functions and their divergences, [S] each; the latter may be NULL.
  void (*flux)(int order, const long double *at, long double *value, long double *divergence);
  /// The map of elements of geometry order 1 .. KG_GEOMETRY_MAX, where 1 means straight ones, and
  /// is the only one in space: [1 + dimension][node], value and derivatives by r, s and t of the
  /// Lagrange function of each of the `nodes` of that order. x is the sum of nodes times values.
  void (*map)(int geometry, const long double *at, long double *shape);
  /// A product rule of `rows` points a direction, exact for P_d and Q_d, d = 2 rows - 1: points and
  /// weights, [rows^dimension], those of a row one behind the other.
  void (*rule)(int rows, long double *const *at, long double *weight);
  /// Write the modes of order P + 1 and the flux functions of order P at the points of a product
  /// rule, [point][N*] and [point][S]. They are products of rounded polynomials of one coordinate:
  /// this is faster than `modes` and `flux` at each point, and last digits may differ.
  void (*products)(int order, int rows, long double *const *at, double *value, double *flux);
  /// Equispaced nodes of the Lagrange cell of an order >= 1, n_modes(order) of them, in VTK's
  /// order: corners, nodes inside the edges, inside the faces, inside the cell.
  void (*nodes)(int order, double *const *at);
} kg_cell;

/// Sizes that follow from shape and order.
typedef struct kg_cell_sizes {
  int order, dimension;
  int n_facets;
  int n_modes;   ///< N
  int n_flux;    ///< S
  int n_facet;   ///< m: modes on a facet
  int n_trace;   ///< n = m n_facets
  int n_star;    ///< N*: modes of order P + 1
  int n_packed;  ///< n (n + 1) / 2: entries of a packed K^e
} kg_cell_sizes;

kg_cell_sizes kg_cell_sizes_of(const kg_cell *cell, int order);

/// The point of facet l of a plane shape that is at t in [-1, 1], and d(r, s)/dt along it.
void kg_cell_facet_point(const kg_cell *cell, int l, long double t, long double at[2],
                         long double along[2]);
/// The point of facet l that is at `on`, [dimension - 1] coordinates of the facet's shape.
void kg_cell_on_facet(const kg_cell *cell, int l, const long double *on, long double *at);
/// rows^dimension: points of a rule.
static inline int kg_cell_rule_points(const kg_cell *cell, int rows)
{
  int n = 1;
  for (int k = 0; k < cell->dimension; ++k) n *= rows;
  return n;
}

extern const kg_cell kg_segment, kg_triangle, kg_quadrilateral, kg_tetrahedron;

/// The shapes of elements, and the index of one: of arrays of one entry a shape.
enum { KG_CELL_KINDS = 3 };
extern const kg_cell *const kg_cell_list[KG_CELL_KINDS];
static inline int kg_cell_index(const kg_cell *cell)
{
  return cell == &kg_tetrahedron ? 2 : cell == &kg_quadrilateral;
}

KEDGE_END_DECLS

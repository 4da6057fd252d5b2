/// @file
/// Shapes of elements. Corners run counterclockwise; facet l of a plane shape runs from corner l to
/// the next one. The reference triangle has its right angle in (-1, -1) and legs of length 2, the
/// reference quadrilateral is [-1, 1]^2.
///
/// The spaces of a shape: u in P_P on triangles, Q_P on quadrilaterals, with an orthonormal basis
/// of which that of order P is the beginning of that of order P + 1, the constant first; fluxes in
/// P_P x P_P on triangles, Q_{P+1,P} x Q_{P,P+1} on quadrilaterals. A flux function has one
/// component: the first half of them are along r, the others along s; they are orthonormal too.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

enum {
  KG_FACETS_MAX = 4,    ///< facets, and corners, of any shape
  KG_GEOMETRY_MAX = 5,  ///< highest order of the map of an element
  KG_NODES_MAX = (KG_GEOMETRY_MAX + 1) * (KG_GEOMETRY_MAX + 1),  ///< nodes of such a map
};

typedef struct kg_cell {
  const char *name;  ///< for sentences; its plural ends in s
  int n_vertices, n_facets;
  int facet_corner[KG_FACETS_MAX][2];  ///< [facet]: the corners at which it begins and ends
  double corner[KG_FACETS_MAX][2];     ///< [corner]: r, s in the reference shape

  int (*n_modes)(int order);  ///< N
  int (*n_flux)(int order);   ///< S, both components
  /// Values and derivatives of the modes at (r, s), [N] each. The derivatives may be NULL, both.
  void (*modes)(int order, long double r, long double s, long double *phi, long double *phi_r,
                long double *phi_s);
  /// Values of the flux functions and their divergences, [S] each; the latter may be NULL.
  void (*flux)(int order, long double r, long double s, long double *value,
               long double *divergence);
  /// The map of elements of geometry order 1 .. KG_GEOMETRY_MAX, where 1 means straight ones:
  /// [3][node], value, derivatives by r and by s of the Lagrange function of each of the `nodes` of
  /// that order. x(r, s) is the sum of nodes times values.
  void (*map)(int geometry, long double r, long double s, long double *shape);
  /// A product rule of `rows` points a direction, exact for P_d and Q_d, d = 2 rows - 1: points
  /// (r, s) and weights, [rows * rows], those of a row one behind the other.
  void (*rule)(int rows, long double *r, long double *s, long double *weight);
  /// Write the modes of order P + 1 and the flux functions of order P at the points of a product
  /// rule, [point][N*] and [point][S]. They are products of rounded polynomials of one coordinate:
  /// this is faster than `modes` and `flux` at each point, and last digits may differ.
  void (*products)(int order, int rows, const long double *r, const long double *s, double *value,
                   double *flux);
  /// Equispaced nodes of the Lagrange cell of an order >= 1, n_modes(order) of them, in VTK's
  /// order: corners, nodes inside the facets, nodes inside the cell.
  void (*nodes)(int order, double *r, double *s);
} kg_cell;

/// Sizes that follow from shape and order.
typedef struct kg_cell_sizes {
  int order;
  int n_facets;
  int n_modes;   ///< N
  int n_flux;    ///< S
  int n_facet;   ///< m = P + 1: modes on a facet
  int n_trace;   ///< n = m n_facets
  int n_star;    ///< N*: modes of order P + 1
  int n_packed;  ///< n (n + 1) / 2: entries of a packed K^e
} kg_cell_sizes;

kg_cell_sizes kg_cell_sizes_of(const kg_cell *cell, int order);

/// The point t in [-1, 1] of facet l, and d(r, s)/dt along it.
void kg_cell_facet_point(const kg_cell *cell, int l, long double t, long double at[2],
                         long double along[2]);

extern const kg_cell kg_triangle, kg_quadrilateral;

enum { KG_CELL_KINDS = 2 };
/// Index arrays of one entry a shape.
static inline int kg_cell_index(const kg_cell *cell)
{
  return cell == &kg_quadrilateral;
}

KEDGE_END_DECLS

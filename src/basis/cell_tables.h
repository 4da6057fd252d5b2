/// @file
/// Tables of a (shape, order): what integrals over an element of any map read (docs/math.md#cells).
///
/// phi: orthonormal modes of the shape (N of order P, N* of order P + 1), Phi: its flux functions
/// (S, basis/cell.h), psi: orthonormal Legendre modes of a facet (m), n = m n_facets. Packed lower
/// triangles hold entry (i, j), j <= i, at i (i+1) / 2 + j. All are made in long double and rounded
/// once.
#pragma once
#include "basis/cell.h"
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Points of the reference element: those of a product rule, then, where asked for, its corners,
/// with weight 0. Pointers into one array of doubles, in host or in device memory.
typedef struct kg_cell_points {
  kg_cell_sizes size;
  int n;                 ///< points
  const double *r, *s;   ///< [point]
  const double *weight;  ///< [point]
  const double *map;     ///< [point][3][corner]: kg_cell.map
  const double
      *value;          ///< [point][N*]: phi of order P + 1, of which those of order P are the first
  const double *flux;  ///< [point][S]: Phi, each along its own direction
} kg_cell_points;

/// Doubles behind them. @param[in] rows  points of the rule a direction, at most KG_GAUSS_MAX
size_t kg_cell_points_count(const kg_cell *cell, int order, int rows, bool corners);
/// The same points for a copy of the array at `base`.
kg_cell_points kg_cell_points_at(const kg_cell *cell, int order, int rows, bool corners,
                                 const double *base);
/// @param[out] values  owned by the caller (free), kg_cell_points_count() doubles
kedge_status kg_cell_points_create(kedge_context *ctx, const kg_cell *cell, int order, int rows,
                                   bool corners, double **values);
/// The nodes of the Lagrange cell of an order as points of weight 0. Their functions of the map add
/// up to 1 in floating-point numbers.
/// @param[in]  node_order  1 .. KEDGE_ORDER_MAX + 1
/// @param[out] values      owned by the caller (free); the points lie in it
kedge_status kg_cell_nodes_create(kedge_context *ctx, const kg_cell *cell, int order,
                                  int node_order, double **values, kg_cell_points *nodes);

/// Tables of local matrices, of which one array holds all too.
typedef struct kg_cell_tables {
  kg_cell_sizes size;
  kg_cell_points points;     ///< without corners
  const double *divergence;  ///< [N][S]: D = (phi_i, div Phi_j)
  const double *flux_lift;   ///< [S][n]: F~ = <Phi_i . n, psi_j>
  const double *lift;        ///< [n][N]: <psi_i, phi_j>, facet by facet
  const double *facet_mass;  ///< [facet] packed N x N: <phi_i, phi_j>
  /// [point][component][N + n]: Phi^T [-D^T | F~]: the weak gradient, covariant, of the modes of u,
  /// then of those of the trace
  const double *gradient;
  const double *star;  ///< [point][component][N* - 1]: derivatives of the modes but the constant
} kg_cell_tables;

/// Points a direction that are enough to assemble. With one less, quadrilaterals lose the flux
/// functions that vanish at all of them, and with these an order.
static inline int kg_cell_rows(int order)
{
  return order + 2;
}

/// As those of points. @param[in] rows  at least kg_cell_rows()
size_t kg_cell_tables_count(const kg_cell *cell, int order, int rows);
kg_cell_tables kg_cell_tables_at(const kg_cell *cell, int order, int rows, const double *base);
kedge_status kg_cell_tables_create(kedge_context *ctx, const kg_cell *cell, int order, int rows,
                                   double **values);

KEDGE_END_DECLS

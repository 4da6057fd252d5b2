/// @file
/// Tables of a (shape, order): what integrals over an element of any map read (docs/math.md#cells).
///
/// phi: orthonormal modes of the shape (N of order P, N* of order P + 1), Phi: its flux functions
/// (S, basis/cell.h), psi: orthonormal Legendre modes of a facet (m), n = m n_facets. Packed lower
/// triangles hold entry (i, j), j <= i, at i (i+1) / 2 + j. All are made in long double and rounded
/// once.
#pragma once
#include "basis/cell.h"
#include "basis/cell_tiles.h"
#include "basis/halves.h"
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Points of weight 0 that follow the points of a product rule.
typedef enum kg_cell_behind {
  KG_BEHIND_NOTHING,
  KG_BEHIND_CORNERS,
  KG_BEHIND_FACETS,  ///< points of the rule of each facet, rows^(dimension - 1), facet by facet
} kg_cell_behind;

/// Points of the reference element. Pointers into one array of doubles, in host or in device
/// memory.
typedef struct kg_cell_points {
  kg_cell_sizes size;
  int geometry, n_nodes;       ///< order of the map of elements, and its nodes
  int n;                       ///< points
  const double *r, *s, *t;     ///< [point]; t in space alone
  const double *weight;        ///< [point]
  const double *map;           ///< [point][1 + dimension][node]: kg_cell.map
  const double *map_by_point;  ///< [1 + dimension][node][point], n_map points: the same for threads
                               ///< of a GPU
  int n_map;                   ///< points of both, which may be more than n
  const double *value;         ///< [point][N*]: phi of order P + 1; those of order P are the first
  const double *flux;          ///< [point][S]: Phi, each along its own direction
  int rows;                    ///< of the rule, and points of a row; 0: they are no rule's
  /// [point of a row], [row], in space [layer]: kg_roughness_top()
  const double *top, *top_of_row, *top_of_layer;
} kg_cell_points;

/// The length of the array behind a kg_cell_points, in doubles. @param[in] rows  points of the rule
/// a direction, at most KG_GAUSS_MAX
size_t kg_cell_points_count(const kg_cell *cell, int order, int geometry, int rows,
                            kg_cell_behind behind);
/// Point a kg_cell_points into a copy, at `base`, of the array.
kg_cell_points kg_cell_points_at(const kg_cell *cell, int order, int geometry, int rows,
                                 kg_cell_behind behind, const double *base);
/// @param[out] values  owned by the caller (free), kg_cell_points_count() doubles
kedge_status kg_cell_points_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                   int rows, kg_cell_behind behind, double **values);
/// The points of a rule, from kg_cell.products.
/// @param[in]  rows    at most KG_GAUSS_MAX
/// @param[out] values  owned by the caller (free); the points lie in it
kedge_status kg_cell_rule_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                 int rows, double **values, kg_cell_points *rule);
/// The nodes of the Lagrange cell of an order as points of weight 0. Their functions of the map add
/// up to 1 in floating-point numbers.
/// @param[in]  node_order  1 .. KEDGE_ORDER_MAX + 1
/// @param[out] values      owned by the caller (free); the points lie in it
kedge_status kg_cell_nodes_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                  int node_order, double **values, kg_cell_points *nodes);

/// Tables of local matrices, of which one array holds all too.
typedef struct kg_cell_tables {
  kg_cell_sizes size;
  kg_cell_points points;          ///< of the rule; those of the facets lie behind
  int rows;                       ///< points of a facet
  const double *facet_weight;     ///< [row]: of the points of a facet
  const double *facet_direction;  ///< [facet][2]: d(r, s)/dt along it
  const double *divergence;       ///< [N][S]: D = (phi_i, div Phi_j)
  const double *flux_lift;        ///< [S][n]: F~ = <Phi_i . n, psi_j>
  const double *lift;             ///< [n][N]: <psi_i, phi_j>, facet by facet
  const double *facet_mass;       ///< [facet] packed N x N: <phi_i, phi_j>
  /// [S][N + n]: B = [-D^T | F~], the weak gradient of the modes of u and trace in the flux
  /// functions. What is zero but for rounding is zero: on quadrilaterals all but P + 2 of a column.
  const double *weak;
  /// [point][component][N + n]: Phi^T [-D^T | F~]: the weak gradient, covariant, of the modes of u,
  /// then of those of the trace
  const double *gradient;
  const double *star;  ///< [point][component][N* - 1]: derivatives of the modes but the constant
  kg_cell_tiles tiles;
  kg_halves halves;  ///< of straight quadrilaterals, for parallelograms
} kg_cell_tables;

/// Points a direction that are enough to assemble. With one less, quadrilaterals lose the flux
/// functions that vanish at all of them, and with these an order.
static inline int kg_cell_rows(int order)
{
  return order + 2;
}

/// Points of the sampling rule a direction: sources and exact solutions are no polynomials, and
/// with these what the rule adds is small beside the errors that it measures.
static inline int kg_cell_sample_rows(int order)
{
  return order + 6;
}

/// See kg_cell_points. @param[in] rows  at least kg_cell_rows()
size_t kg_cell_tables_count(const kg_cell *cell, int order, int geometry, int rows);
kg_cell_tables kg_cell_tables_at(const kg_cell *cell, int order, int geometry, int rows,
                                 const double *base);
kedge_status kg_cell_tables_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                   int rows, double **values);

/// The points of the tables with those of the facets: KG_BEHIND_FACETS.
static inline kg_cell_points kg_cell_points_and_facets(const kg_cell_tables *tables)
{
  kg_cell_points points = tables->points;
  points.n += tables->size.n_facets * tables->rows;
  return points;
}

KEDGE_END_DECLS

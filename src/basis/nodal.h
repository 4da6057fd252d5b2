/// @file
/// Nodes of straight elements for nodal discontinuous Galerkin methods, and the matrices of their
/// Lagrange functions: warp & blend of Warburton, J. Eng. Math. 56 (2006) 247, with the numbers of
/// Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008.
///
/// Nodes are numbered by their equispaced steps along r, then s, then t. The nodes of a facet are
/// those that the shape of the facet has, from its corners in the order of kg_cell.
#pragma once
#include "basis/cell.h"
#include "core/error.h"
KEDGE_BEGIN_DECLS

enum {
  KG_NODAL_ORDER_MAX = 9,
  KG_NODAL_MAX = 220,  ///< nodes: those of a tetrahedron of this order
};

/// All of one piece of memory.
typedef struct kg_nodal {
  const kg_cell *cell;  ///< a triangle or a tetrahedron
  int order;
  int n;                ///< nodes, and modes
  int n_facet;          ///< nodes of a facet
  double *at;           ///< [dimension][n]: r, s, t
  double *derivative;   ///< [dimension][n][n]: D_a, derivatives at nodes from values at nodes
  double *lift;         ///< [n][facet][n_facet]: M^-1 times the mass matrices of reference facets
  double *mass;         ///< [n][n]: M
  double *modes;        ///< [n][n]: V^-1, coefficients of kg_cell.modes() from values at nodes
  int32_t *facet_node;  ///< [facet][n_facet]
} kg_nodal;

/// @param[in]  order  1 to KG_NODAL_ORDER_MAX
/// @param[out] out    kg_nodal_free()
kedge_status kg_nodal_create(kedge_context *ctx, const kg_cell *cell, int order, kg_nodal *out);
void kg_nodal_free(kg_nodal *nodal);

KEDGE_END_DECLS

/// @file
/// The elements of a locator: maps, boxes and tolerances (ops/sample/locate.h), made on the host.
#pragma once
#include "basis/cell.h"
#include "core/error.h"
#include "mesh/mesh.h"

/// What is made of each element of the mesh.
typedef struct kg_located_boxes {
  double *box;        ///< [element][2][dimension]: the least coordinates, the greatest
  double *tolerance;  ///< [element]: how far outside a point is still its own
  /// [element]: the tolerance of points at a distance of `reach` too, which are in the boxes; NULL:
  /// it is not asked for
  double *wide;
  double reach;
} kg_located_boxes;

/// Nodes of an order in the coordinates of ops/sample/polynomial.h, [dimension] arrays.
/// @return how many
int kg_nodes_from_0(const kg_cell *cell, int order, double *const *at);

/// Make those of a block of the mesh.
/// @param[out] maps  [element of the block][power][dimension]
kedge_status kg_locate_block(kedge_context *ctx, const kedge_mesh *mesh, int block, double *maps,
                             const kg_located_boxes *boxes);

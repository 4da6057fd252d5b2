/// @file
/// Shapes of elements: what does not depend on an order. Corners run counterclockwise; facet l of a
/// plane shape runs from corner l to the next one. The reference triangle has its right angle in
/// (-1, -1) and legs of length 2, the reference quadrilateral is [-1, 1]^2.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

enum { KG_FACETS_MAX = 4 };  ///< facets, and corners, of any shape

typedef struct kg_cell {
  const char *name;  ///< for sentences; its plural ends in s
  int dimension, n_vertices, n_facets;
  int facet_corner[KG_FACETS_MAX][2];  ///< [facet]: the corners at which it begins and ends
  double corner[KG_FACETS_MAX][2];     ///< [corner]: r, s in the reference shape
} kg_cell;

extern const kg_cell kg_triangle, kg_quadrilateral;

KEDGE_END_DECLS

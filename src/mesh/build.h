/// @file
/// The steps of kg_mesh_build(), in their order. "Raw" numbers are the caller's.
#pragma once
#include "mesh/mesh.h"

typedef struct kg_builder {
  kedge_context *ctx;
  const kg_raw_mesh *raw;
  const char *source;
  kedge_mesh *mesh;
  uint8_t *clockwise;      ///< [raw element]
  int32_t *vertex_number;  ///< [raw vertex]: number in the mesh, -1 where unused
  int32_t *sides;          ///< all sides by (lower vertex, higher vertex, side)
  int32_t *first_side;     ///< [vertex + 1]: where the sides of each lower vertex begin in `sides`
} kg_builder;

/// Refuse bad vertex numbers, coordinates and triangles without area; find the clockwise ones.
kedge_status kg_build_check(kg_builder *b);
/// Elements along the Hilbert curve, vertices by first appearance.
kedge_status kg_build_order(kg_builder *b);
/// Match sides into edges; refuse duplicates, folds and edges with three elements.
kedge_status kg_build_edges(kg_builder *b);
/// Boundary groups from lines, regions, their names and measures.
kedge_status kg_build_groups(kg_builder *b);
/// Everything of kedge_mesh_info that is not known yet.
kedge_status kg_build_info(kg_builder *b);

enum { KG_ELEMENT_TEXT = 256 };
/// How messages call a raw element: where it stands, and its corners.
void kg_build_describe(const kg_builder *b, int64_t raw_element, char text[KG_ELEMENT_TEXT]);

/// The vertices of a side, lower number first.
static inline void kg_side_vertices(const kedge_mesh *mesh, int32_t side, int32_t *lower,
                                    int32_t *higher)
{
  const int32_t a = mesh->element_vertices[side];
  const int32_t b = mesh->element_vertices[side % 3 == 2 ? side - 2 : side + 1];
  *lower = a < b ? a : b;
  *higher = a < b ? b : a;
}

/// @file
/// Sides of faces that lie inside one region, on a mesh in space: kg_line_sides().
#pragma once
#include "mesh/mesh.h"
KEDGE_BEGIN_DECLS

/// @param[in]     is_inside  [n]: faces that lie inside one region; others keep their sides
/// @param[in]     faces      [n]: of the mesh, each of them of a group
/// @param[in,out] sides      [n]
kedge_status kg_surface_sides(kedge_context *ctx, const kedge_mesh *mesh, int32_t n,
                              const bool *is_inside, const int32_t *faces, kg_side *sides);

KEDGE_END_DECLS

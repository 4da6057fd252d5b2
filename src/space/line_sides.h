/// @file
/// From which side a line inside the domain is seen, where fluxes through it are added up.
#pragma once
#include "mesh/mesh.h"

/// Choose the side of each edge of a list that lies inside the domain and has a group: n points out
/// of it. Between two regions it is the side of the region with the lower tag. Inside one region
/// the edges of a group are followed from vertex to vertex: n points out of a closed line, and
/// through an open one to where x grows or, if it runs along x, to where y grows.
/// In space, of faces of surfaces, likewise: an open one is seen by its area as a vector along n,
/// and through one that runs along x and y n points to where z grows.
/// @param[in]  edges  [n]: of the mesh; those on the boundary have one side
/// @param[out] sides  [n]
kedge_status kg_line_sides(kedge_context *ctx, const kedge_mesh *mesh, int32_t n,
                           const int32_t *edges, kg_side *sides);

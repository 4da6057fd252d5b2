/// @file
/// What the refinement of curved meshes adds to that of straight ones.
#pragma once
#include "mesh/mesh.h"

/// The nodes of the parts, 4 e .. 4 e + 3 of the caller's element e, whose corners are set, and the
/// vertices behind those of the mesh: the middles of edges, then those of quadrilaterals.
kedge_status kg_refine_curves(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out);

/// @file
/// Connected parts of a mesh: elements hang together by common edges; a common vertex does not do.
#pragma once
#include "mesh/mesh.h"

/// @param[out] part     [element]: its part, numbered by their first elements; the caller frees it
/// @param[out] n_parts  how many there are
kedge_status kg_mesh_parts(kedge_context *ctx, const kedge_mesh *mesh, int32_t **part,
                           int32_t *n_parts);

/// @file
/// The inside of a locator: elements and places instead of values.
#pragma once
#include "kedge/solution.h"

/// As kedge_locator_create(), with a tree that can reach out.
kedge_status kg_locator_create(kedge_context *ctx, const kedge_mesh *mesh, double reach,
                               kedge_locator **out);
/// From now on elements also hold points outside of them, at a distance of about `reach`.
kedge_status kg_locator_reach_out(kedge_locator *locator);
/// Find the elements that hold points of the host.
/// @param[in]  at       [dimension][n]: coordinates
/// @param[out] element  [n] of the mesh; -1: none holds the point
/// @param[out] place    [n][dimension] in the triangle (0, 0), (1, 0), (0, 1), the square [0, 1]^2
///                      or the tetrahedron of the origin and a corner at 1 on every axis
kedge_status kg_locator_find(kedge_locator *locator, int64_t n, const double *const *at,
                             int32_t *element, double *place);

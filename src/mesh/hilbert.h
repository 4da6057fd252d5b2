/// @file
/// Order along a Hilbert curve: triangles near each other in the plane get numbers near each other.
#pragma once
#include "core/error.h"

/// Order triangles by the place of their centroids on the curve, ties by number.
/// @param[out] order  [n]: the triangle at each place; the caller frees it
kedge_status kg_hilbert_order(kedge_context *ctx, const double *vertices, const int32_t *triangles,
                              int32_t n, int32_t **order);

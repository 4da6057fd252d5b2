/// @file
/// Meshes of squares and their halves, straight and curved, whose nodes a function has moved.
#pragma once
#include <stdint.h>

#include "kedge/kedge.h"

/// Where a node of n x n squares goes.
typedef void moving(int n, const double from[2], double to[2]);
/// `ring` is a quarter of a ring of radii 1 and 2; after `shaken` none is a parallelogram.
moving stay, wave, ring, trapezoids, shaken;

/// Which of the squares are cut into two triangles.
enum cut { WHOLE, CHECKERED, LOWER_HALF, ALL };

/// The region of square (i, j) of n x n.
typedef int32_t regions(int n, int i, int j);

/// The unit square in n x n squares, with nodes of order `geometry` that are moved. Its sides are
/// the groups 1 (y = 0), 2 (x = 1), 3 (y = 1) and 4 (x = 0).
kedge_mesh *grid_of(kedge_context *ctx, int n, enum cut cut, int geometry, moving *to,
                    regions *region);
/// A grid without regions.
kedge_mesh *moved(kedge_context *ctx, int n, enum cut cut, int geometry, moving *to);

/// @file
/// Meshes of curved elements, whose nodes a function has moved.
#pragma once
#include "kedge/kedge.h"

typedef void moving(const double from[2], double to[2]);
moving stay, wave, ring;

/// Which of the squares are cut into two triangles.
enum cut { WHOLE, CHECKERED, ALL };

/// The unit square in n x n squares, with nodes of order `geometry` that are moved. Its sides are
/// the groups 1 (y = 0), 2 (x = 1), 3 (y = 1) and 4 (x = 0).
kedge_mesh *moved(kedge_context *ctx, int n, enum cut cut, int geometry, moving *to);

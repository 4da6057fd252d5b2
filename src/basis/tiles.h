/// @file
/// Matrices cut into tiles of 8 x 8, zero beyond their ends: what the tensor cores of a GPU take in
/// without asking for bounds (src/ops/local/triangle/tiles.cuh).
///
/// A tile is 64 doubles, row after row. The tiles that several matrices have at one place lie side
/// by side, as they are summed.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

enum { KG_TILE = 8, KG_TILE_ENTRIES = KG_TILE * KG_TILE };

/// Tiles that hold n rows.
static inline int kg_tiles_of(int n)
{
  return (n + KG_TILE - 1) / KG_TILE;
}

/// Tile rows in pairs, which the tensor cores take at once.
static inline int kg_tile_pairs_of(int n)
{
  return (kg_tiles_of(n) + 1) / 2;
}

/// Transposes of matrices [rows][cols]: out [I < tile_rows][J][matrix][64], where the tile rows of
/// the transposes may be more than `cols` needs.
void kg_cut_transposes(int rows, int cols, int tile_rows, int n_matrices,
                       const double *const matrix[], double *out);

/// Matrices [rows][cols] themselves, in the same way.
void kg_cut_rows(int rows, int cols, int tile_rows, int n_matrices, const double *const matrix[],
                 double *out);

KEDGE_END_DECLS

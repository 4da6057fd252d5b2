#include "basis/tiles.h"

/// Entry (c, i) of what is cut is at c * down + i * along of a matrix.
static void cut(int rows, int cols, int down, int along, int tile_rows, int n_matrices,
                const double *const matrix[], double *out)
{
  const int tile_cols = kg_tiles_of(cols);
  for (int I = 0; I < tile_rows; ++I)
    for (int J = 0; J < tile_cols; ++J)
      for (int k = 0; k < n_matrices; ++k)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
          const int i = KG_TILE * I + at / KG_TILE, j = KG_TILE * J + at % KG_TILE;
          *out++ = i < rows && j < cols ? matrix[k][i * down + j * along] : 0.0;
        }
}

void kg_cut_transposes(int rows, int cols, int tile_rows, int n_matrices,
                       const double *const matrix[], double *out)
{
  cut(cols, rows, 1, cols, tile_rows, n_matrices, matrix, out);
}

void kg_cut_rows(int rows, int cols, int tile_rows, int n_matrices, const double *const matrix[],
                 double *out)
{
  cut(rows, cols, cols, 1, tile_rows, n_matrices, matrix, out);
}

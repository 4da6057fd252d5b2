/// @file
/// Tables of a (shape, order) once more, as the GPU reads them (src/ops/local/quadrature): cut into
/// tiles of 8 x 8 for its tensor cores (basis/tiles.h), or with the points side by side.
///
/// A *strip* is eight rows of a matrix of an element: modes of u, trace modes, flux functions, or
/// modes of u* but the constant. Rows and columns behind the last are zero. A tile of a sum over
/// points has eight rows of a strip and four points with two components each, or eight points, in
/// its columns; a table of such tiles has strips in *pairs*, side by side as the tensor cores take
/// them: [pair][column % 2][row][column / 2][strip of the pair].
#pragma once
#include "basis/tiles.h"
KEDGE_BEGIN_DECLS

struct kg_cell_tables;

typedef struct kg_cell_tiles {
  int modes, traces, flux, star;    ///< strips
  int n_points;                     ///< of the rule and of the facets behind
  const double *gradient;           ///< [points / 4][modes, traces][64]
  const double *joint;              ///< the same, trace modes next to modes of u without padding
  const double *value;              ///< [points / 8][modes][64]
  const double *lift_of_modes;      ///< [n / 8][modes][64]: rows are modes of u
  const double *lift_of_traces;     ///< [traces][modes][64]: rows are trace modes
  const double *fluxes;             ///< [points / 4][flux][64]: Phi
  const double *weak;               ///< [flux][modes, traces][64]: B^T
  const double *star_gradient;      ///< [points / 4][star][64]
  const double *gradient_by_point;  ///< [N + n][point of the rule][component]
  const double *flux_by_point;      ///< [S][point of the rule]
  const double *value_by_point;     ///< [N*][point of the rule]
} kg_cell_tiles;

/// Place the tables at `base`, aligned as double2; with NULL only count. Returns the doubles.
size_t kg_cell_tiles_lay_out(const struct kg_cell_tables *t, const double *base,
                             kg_cell_tiles *tiles);
/// Fill t->tiles from the other tables.
void kg_cell_tiles_fill(const struct kg_cell_tables *t);

KEDGE_END_DECLS

#include "basis/cell_tiles.h"

#include <string.h>

#include "basis/cell_tables.h"
#include "basis/hand_out.h"

/// Strips with those that fill pairs.
static size_t even(int strips)
{
  return (size_t)(strips + strips % 2);
}

size_t kg_cell_tiles_lay_out(const kg_cell_tables *t, const double *base, kg_cell_tiles *tiles)
{
  const kg_cell_sizes z = t->size;
  const int points = t->points.n;
  *tiles = (kg_cell_tiles){.modes = kg_tiles_of(z.n_modes),
                           .traces = kg_tiles_of(z.n_trace),
                           .flux = kg_tiles_of(z.n_flux),
                           .star = kg_tiles_of(z.n_star - 1)};
  const size_t by_four = (size_t)(points + 3) / 4 * KG_TILE_ENTRIES, n = (size_t)points;
  const size_t by_eight = (size_t)kg_tiles_of(points) * KG_TILE_ENTRIES;
  const size_t modes = (size_t)tiles->modes, traces = (size_t)tiles->traces;
  const size_t rows = even(tiles->modes + tiles->traces);
  const kg_piece pieces[] = {
      {&tiles->gradient, by_four * rows},
      {&tiles->joint, by_four * even(kg_tiles_of(z.n_modes + z.n_trace))},
      {&tiles->value, by_eight * even(tiles->modes)},
      {&tiles->lift_of_modes, traces * even(tiles->modes) * KG_TILE_ENTRIES},
      {&tiles->lift_of_traces, traces * modes * KG_TILE_ENTRIES},
      {&tiles->fluxes, by_four * even(tiles->flux)},
      {&tiles->weak, (size_t)tiles->flux * rows * KG_TILE_ENTRIES},
      {&tiles->star_gradient, by_four * even(tiles->star)},
      {&tiles->gradient_by_point, (size_t)(z.n_modes + z.n_trace) * 2 * n},
      {&tiles->flux_by_point, (size_t)z.n_flux * n},
      {&tiles->value_by_point, (size_t)z.n_star * n},
  };
  return kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
}

/// Where rows and columns of a matrix lie in memory, and in its tiles [column tile][pair] of
/// `strips` strips: from row and column `first` on, columns `step` apart.
typedef struct cut_of {
  int rows, row_stride, columns, column_stride;
  int first_row, first_column, step, strips;
} cut_of;

static void cut(const double *matrix, cut_of c, const double *to)
{
  double *const out = (double *)to;
  for (int j = 0; j < c.columns; ++j)
    for (int i = 0; i < c.rows; ++i) {
      const int to_row = c.first_row + i, to_column = c.first_column + j * c.step;
      const int strip = to_row / KG_TILE, row = to_row % KG_TILE, column = to_column % KG_TILE;
      const int pair = to_column / KG_TILE * ((c.strips + 1) / 2) + strip / 2;
      const int entry = row * KG_TILE / 2 + column / 2;
      out[(2 * pair + column % 2) * KG_TILE_ENTRIES + 2 * entry + strip % 2] =
          matrix[(size_t)i * (size_t)c.row_stride + (size_t)j * (size_t)c.column_stride];
    }
}

static void transpose(int rows, int columns, const double *matrix, const double *to)
{
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      ((double *)to)[(size_t)j * (size_t)rows + (size_t)i] = matrix[i * columns + j];
}

void kg_cell_tiles_fill(const kg_cell_tables *t)
{
  const kg_cell_tiles *tiles = &t->tiles;
  const kg_cell_sizes z = t->size;
  const int N = z.n_modes, n = z.n_trace, S = z.n_flux, p = N + n, points = t->points.n;
  memset((double *)tiles->gradient, 0,
         kg_cell_tiles_lay_out(t, NULL, &(kg_cell_tiles){0}) * sizeof(double));
  const int strips = tiles->modes + tiles->traces, behind = KG_TILE * tiles->modes;
  // Modes of u, then of the trace. Columns are points and components.
  cut(t->gradient, (cut_of){N, 1, 2 * points, p, 0, 0, 1, strips}, tiles->gradient);
  cut(t->gradient + N, (cut_of){n, 1, 2 * points, p, behind, 0, 1, strips}, tiles->gradient);
  cut(t->gradient, (cut_of){p, 1, 2 * points, p, 0, 0, 1, kg_tiles_of(p)}, tiles->joint);
  cut(t->weak, (cut_of){N, 1, S, p, 0, 0, 1, strips}, tiles->weak);
  cut(t->weak + N, (cut_of){n, 1, S, p, behind, 0, 1, strips}, tiles->weak);
  cut(t->star, (cut_of){z.n_star - 1, 1, 2 * points, z.n_star - 1, 0, 0, 1, tiles->star},
      tiles->star_gradient);
  cut(t->points.value, (cut_of){N, 1, points, z.n_star, 0, 0, 1, tiles->modes}, tiles->value);
  cut(t->lift, (cut_of){N, 1, n, N, 0, 0, 1, tiles->modes}, tiles->lift_of_modes);
  for (int c = 0; c < 2; ++c)  // each flux function has one component
    cut(t->points.flux + c * (S / 2), (cut_of){S / 2, 1, points, S, c * (S / 2), c, 2, tiles->flux},
        tiles->fluxes);
  // [traces][modes]: the tile of columns comes second
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < n; ++i) {
      const int tile = i / KG_TILE * tiles->modes + j / KG_TILE;
      ((double *)
           tiles->lift_of_traces)[tile * KG_TILE_ENTRIES + i % KG_TILE * KG_TILE + j % KG_TILE] =
          t->lift[i * N + j];
    }
  transpose(2 * points, p, t->gradient, tiles->gradient_by_point);
  transpose(points, S, t->points.flux, tiles->flux_by_point);
  transpose(points, z.n_star, t->points.value, tiles->value_by_point);
}

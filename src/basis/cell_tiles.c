#include "basis/cell_tiles.h"

#include <string.h>

#include "basis/cell_tables.h"

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
                           .half = kg_tiles_of(z.n_flux / 2),
                           .star = kg_tiles_of(z.n_star - 1)};
  const size_t by_four = (size_t)(points + 3) / 4 * KG_TILE_ENTRIES, n = (size_t)points;
  const size_t by_eight = (size_t)kg_tiles_of(points) * KG_TILE_ENTRIES;
  const size_t modes = (size_t)tiles->modes, traces = (size_t)tiles->traces;
  const size_t half = (size_t)tiles->half;
  const struct {
    const double **where;
    size_t count;
  } pieces[] = {
      {&tiles->gradient, by_four * even(tiles->modes + tiles->traces)},
      {&tiles->value, by_eight * even(tiles->modes)},
      {&tiles->lift_of_modes, traces * even(tiles->modes) * KG_TILE_ENTRIES},
      {&tiles->lift_of_traces, traces * modes * KG_TILE_ENTRIES},
      {&tiles->flux, by_eight * 2 * even(tiles->half)},
      {&tiles->weak, (modes + traces) * 2 * half * KG_TILE_ENTRIES},
      {&tiles->star_gradient, by_four * even(tiles->star)},
      {&tiles->gradient_by_point, (size_t)(z.n_modes + z.n_trace) * 2 * n},
      {&tiles->flux_by_point, (size_t)z.n_flux * n},
      {&tiles->value_by_point, (size_t)z.n_star * n},
  };
  size_t total = 0;
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
    *pieces[i].where = base ? base + total : NULL;
    total += pieces[i].count;
  }
  return total;
}

/// A matrix [rows][columns] by its strides becomes tiles [column tile][pair], of which strips
/// `first` on of `strips` are its rows.
static void cut(const double *matrix, int rows, int row_stride, int columns, int column_stride,
                int first, int strips, const double *to)
{
  double *const out = (double *)to;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const int strip = first + i / KG_TILE, row = i % KG_TILE, column = j % KG_TILE;
      const int pair = j / KG_TILE * ((strips + 1) / 2) + strip / 2;
      const int entry = row * KG_TILE / 2 + column / 2;
      out[(2 * pair + column % 2) * KG_TILE_ENTRIES + 2 * entry + strip % 2] =
          matrix[(size_t)i * (size_t)row_stride + (size_t)j * (size_t)column_stride];
    }
}

static void transpose(int rows, int columns, const double *matrix, const double *to)
{
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      ((double *)to)[(size_t)j * (size_t)rows + (size_t)i] = matrix[i * columns + j];
}

/// A table [point][component][columns], whose columns become rows of tiles: a column of a tile is
/// a point and component.
static void cut_gradient(const kg_cell_tables *t, const double *table, int columns, int first,
                         int n, int strip, int strips, const double *to)
{
  cut(table + first, n, 1, 2 * t->points.n, columns, strip, strips, to);
}

static void fill_weak(const kg_cell_tables *t)
{
  const kg_cell_tiles *tiles = &t->tiles;
  const int N = t->size.n_modes, n = t->size.n_trace, S = t->size.n_flux, p = N + n;
  for (int c = 0; c < 2; ++c) {
    const double *const weak = t->weak + c * (S / 2) * p;
    for (int k = 0; k < S / 2; ++k)
      for (int i = 0; i < p; ++i) {
        const int strip = i < N ? i / KG_TILE : tiles->modes + (i - N) / KG_TILE;
        const int row = (i < N ? i : i - N) % KG_TILE;
        const int tile = strip * 2 * tiles->half + c * tiles->half + k / KG_TILE;
        ((double *)tiles->weak)[tile * KG_TILE_ENTRIES + row * KG_TILE + k % KG_TILE] =
            weak[k * p + i];
      }
  }
}

void kg_cell_tiles_fill(const kg_cell_tables *t)
{
  const kg_cell_tiles *tiles = &t->tiles;
  const kg_cell_sizes z = t->size;
  const int N = z.n_modes, n = z.n_trace, S = z.n_flux, p = N + n, points = t->points.n;
  memset((double *)tiles->gradient, 0,
         kg_cell_tiles_lay_out(t, NULL, &(kg_cell_tiles){0}) * sizeof(double));
  const int strips = tiles->modes + tiles->traces;
  cut_gradient(t, t->gradient, p, 0, N, 0, strips, tiles->gradient);
  cut_gradient(t, t->gradient, p, N, n, tiles->modes, strips, tiles->gradient);
  cut_gradient(t, t->star, z.n_star - 1, 0, z.n_star - 1, 0, tiles->star, tiles->star_gradient);
  cut(t->points.value, N, 1, points, z.n_star, 0, tiles->modes, tiles->value);
  cut(t->lift, N, 1, n, N, 0, tiles->modes, tiles->lift_of_modes);
  // [traces][modes]: the tile of columns comes second
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < n; ++i) {
      const int tile = i / KG_TILE * tiles->modes + j / KG_TILE;
      ((double *)
           tiles->lift_of_traces)[tile * KG_TILE_ENTRIES + i % KG_TILE * KG_TILE + j % KG_TILE] =
          t->lift[i * N + j];
    }
  const int half = (int)even(tiles->half);
  for (int c = 0; c < 2; ++c)
    cut(t->points.flux + c * (S / 2), S / 2, 1, points, S, c * half, 2 * half, tiles->flux);
  fill_weak(t);
  transpose(2 * points, p, t->gradient, tiles->gradient_by_point);
  transpose(points, S, t->points.flux, tiles->flux_by_point);
  transpose(points, z.n_star, t->points.value, tiles->value_by_point);
}

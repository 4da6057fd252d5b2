#include "basis/local_tiles.h"

#include "basis/reference.h"

/// Lists the unknowns of K^e in their order. Reduced K^e have mode 1 of the three sides, then the
/// higher modes side by side; packed ones have all.
static void list_unknowns(kg_cut *cut, int m, bool reduced)
{
  int at = 0;
  for (int l = 0; reduced && l < 3; ++l) cut->unknown[at++] = l * m + 1;
  for (int l = 0; l < 3; ++l)
    for (int i = reduced ? 2 : 0; i < m; ++i) cut->unknown[at++] = l * m + i;
}

kg_cut kg_cut_of(int order, bool reduced)
{
  const int N = (order + 1) * (order + 2) / 2, n = 3 * (order + 1), rows = reduced ? n - 3 : n;
  const int modes = kg_tiles_of(N), spare = KG_TILE * modes - N - 1, left = rows % KG_TILE;
  kg_cut cut = {.N = N, .n = n, .rows = rows, .modes = modes, .border = left <= spare ? left : 0};
  cut.traces = kg_tiles_of(rows - cut.border);
  list_unknowns(&cut, order + 1, reduced);
  int at = 0;
  for (int parity = 1; parity >= 0; --parity)  // against that of the order
    for (int degree = 0, mode = 0; degree <= order; ++degree)
      for (int i = 0; i <= degree; ++i, ++mode)
        if ((order + i) % 2 == parity) cut.mode[at++] = mode;
  return cut;
}

/// The trace mode of row k of the border's tile; negative if there is none.
static int border_mode(const kg_cut *cut, int k)
{
  const int row = KG_TILE * (cut->modes - 1) + k - (cut->N + 1);
  return row >= 0 && row < cut->border ? cut->unknown[cut->rows - cut->border + row] : -1;
}

/// Tile rows, and columns, of the trace with the border.
static int trace_tiles(const kg_cut *cut)
{
  return cut->traces + (cut->border > 0);
}

/// The trace mode of row k of tile row I; negative if there is none.
static int trace_mode(const kg_cut *cut, int I, int k)
{
  if (I == cut->traces) return border_mode(cut, k);
  const int row = KG_TILE * I + k;
  return row < cut->rows - cut->border ? cut->unknown[row] : -1;
}

static double operator_entry(const kg_cut *cut, const double *matrix, const double *lift, int i,
                             int j)
{
  if (j >= cut->N) return 0.0;
  if (i < cut->N) return matrix[kg_packed_entry(cut->mode[i], cut->mode[j])];
  const int mode = border_mode(cut, i - KG_TILE * (cut->modes - 1));
  return lift && mode >= 0 ? lift[cut->mode[j] * cut->n + mode] : 0.0;
}

size_t kg_cut_operator_count(const kg_cut *cut)
{
  return (size_t)(KG_OPERATOR_TILES * KG_TILE_ENTRIES * cut->modes * (cut->modes + 1) / 2);
}

void kg_cut_operator(const kg_cut *cut, const double *const matrix[KG_OPERATOR_TILES],
                     const double *const lift[KG_LIFT_TILES], double *out)
{
  for (int I = 0; I < cut->modes; ++I)
    for (int J = 0; J <= I; ++J)
      for (int q = 0; q < KG_OPERATOR_TILES; ++q)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at)
          *out++ = operator_entry(cut, matrix[q], q < KG_LIFT_TILES ? lift[q] : NULL,
                                  KG_TILE * I + at / KG_TILE, KG_TILE * J + at % KG_TILE);
}

size_t kg_cut_lift_count(const kg_cut *cut)
{
  return (size_t)(KG_LIFT_TILES * KG_TILE_ENTRIES * cut->traces * cut->modes);
}

void kg_cut_lift(const kg_cut *cut, const double *const lift[KG_LIFT_TILES], double *out)
{
  for (int I = 0; I < cut->traces; ++I)
    for (int J = 0; J < cut->modes; ++J)
      for (int q = 0; q < KG_LIFT_TILES; ++q)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
          const int c = trace_mode(cut, I, at / KG_TILE), i = KG_TILE * J + at % KG_TILE;
          *out++ = c >= 0 && i < cut->N ? lift[q][cut->mode[i] * cut->n + c] : 0.0;
        }
}

size_t kg_cut_trace_count(const kg_cut *cut)
{
  return (size_t)(KG_TILE_ENTRIES * trace_tiles(cut) * trace_tiles(cut));
}

void kg_cut_trace(const kg_cut *cut, const double *matrix, double *out)
{
  for (int I = 0; I < trace_tiles(cut); ++I)
    for (int J = 0; J < trace_tiles(cut); ++J)
      for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
        const int i = trace_mode(cut, I, at / KG_TILE), j = trace_mode(cut, J, at % KG_TILE);
        *out++ = i >= 0 && j >= 0 ? matrix[kg_packed_entry(i, j)] : 0.0;
      }
}

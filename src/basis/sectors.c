#include "basis/sectors.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

/// Corners after the exchanges that a number has the bits of.
static const int exchanged[KG_SECTORS_MAX][KG_FACETS_MAX] = {
    {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2}};

/// Directions b of a tetrahedron from those of kg_nodal: r, t - s, s + t - r.
static const double along[3][3] = {{1, 0, 0}, {0, -1, 1}, {-1, 1, 1}};
static const double combine[3][3] = {{1, 0.5, 0.5}, {0, -0.5, 0.5}, {0, 0.5, 0.5}};
static const int shift[3] = {1, 2, 0};

/// Where exchanges put a node.
static int node_after(const kg_nodal *nodal, int node, int exchange)
{
  const int n = nodal->n, *const corner = exchanged[exchange];
  double share[KG_FACETS_MAX] = {1.0};
  for (int a = 0; a < 3; ++a) {
    share[a + 1] = 0.5 * (1.0 + nodal->at[a * n + node]);
    share[0] -= share[a + 1];
  }
  int nearest = 0;
  double least = INFINITY;
  for (int i = 0; i < n; ++i) {
    double distance = 0.0;
    for (int a = 0; a < 3; ++a)
      distance += fabs(0.5 * (1.0 + nodal->at[a * n + i]) - share[corner[a + 1]]);
    if (distance < least) least = distance, nearest = i;
  }
  return nearest;
}

static int column_after(const kg_nodal *nodal, int column, int exchange)
{
  const int m = nodal->n_facet, facet = exchanged[exchange][column / m];
  const int node = node_after(nodal, nodal->facet_node[column], exchange);
  int j = 0;
  while (nodal->facet_node[facet * m + j] != node) ++j;
  return facet * m + j;
}

/// Orbits of n things, by their smallest members.
static int list_orbits(const kg_nodal *nodal, int sectors, int n,
                       int (*after)(const kg_nodal *, int, int), int32_t (*orbit)[KG_SECTORS_MAX])
{
  int count = 0;
  for (int i = 0; i < n; ++i) {
    bool first = true;
    for (int g = 0; g < KG_SECTORS_MAX; ++g) {
      orbit[count][g] = g < sectors && g > 0 ? after(nodal, i, g) : i;
      first = first && orbit[count][g] >= i;
    }
    if (first) ++count;
  }
  return count;
}

bool kg_sector_has_part(const int32_t *member, int sector)
{
  bool has = true;
  for (int g = 1; g < KG_SECTORS_MAX; ++g)
    if (member[g] == member[0]) has = has && kg_sector_sign(sector, g) > 0;
  return has;
}

void kg_sector_sizes(const kg_nodal *nodal, int n, int size[KG_SECTORS_MAX])
{
  const int order = nodal->order;
  // Nodes that one exchange leaves where they are, and that both leave there.
  const int by_one = (order + 2) * (order + 2) / 4, by_both = order % 2 ? 0 : order / 2 + 1;
  const int stay[KG_SECTORS_MAX] = {nodal->n, by_one, by_one, by_both};
  for (int s = 0; s < KG_SECTORS_MAX; ++s) {
    size[s] = 0;
    for (int g = 0; g < n; ++g) size[s] += kg_sector_sign(s, g) * stay[g];
    size[s] = s < n ? size[s] / n : 0;
  }
}

static void number_rows(kg_sectors *to)
{
  int n = 0;
  for (int s = 0; s < to->n; ++s) {
    to->begin[s] = n;
    for (int o = 0; o < to->n_orbits; ++o)
      to->row[o][s] = kg_sector_has_part(to->orbit[o], s) ? n++ : -1;
  }
  for (int s = to->n; s <= KG_SECTORS_MAX; ++s) to->begin[s] = n;
}

/// The entry of a matrix between parts of orbits.
static double entry(const double *matrix, int columns, const int32_t *out, int sector_out,
                    const int32_t *in, int sector_in)
{
  double sum = 0.0;
  for (int g = 0; g < KG_SECTORS_MAX; ++g)
    for (int h = 0; h < KG_SECTORS_MAX; ++h)
      sum += kg_sector_sign(sector_out, g) * kg_sector_sign(sector_in, h) *
             matrix[out[g] * columns + in[h]];
  // Members that repeat were counted so often, and both sums are means.
  return sum / (KG_SECTORS_MAX * KG_SECTORS_MAX);
}

static void fill_derivative(const kg_nodal *nodal, kg_sectors *to, double *matrix)
{
  const int n = nodal->n, d = nodal->cell->dimension;
  for (int b = 0; b < d; ++b) {
    for (int i = 0; i < n * n; ++i) {
      matrix[i] = 0.0;
      for (int a = 0; a < d; ++a)
        matrix[i] += (to->n == 1 ? (double)(a == b) : along[b][a]) *
                     nodal->derivative[(size_t)a * n * n + i];
    }
    for (int o = 0; o < to->n_orbits; ++o)
      for (int p = 0; p < to->n_orbits; ++p)
        for (int s = 0; s < to->n; ++s) {
          const int place = to->row[p][s ^ to->shift[b]];
          if (place < 0) continue;
          double *const value = to->derivative + ((size_t)o * d + b) * n + place;
          *value = to->row[o][s] < 0
                       ? 0.0
                       : entry(matrix, n, to->orbit[p], s ^ to->shift[b], to->orbit[o], s);
          if (fabs(*value) < 1e-13) *value = 0.0;
        }
  }
}

static void fill_lift(const kg_nodal *nodal, kg_sectors *to)
{
  const int columns = nodal->cell->n_facets * nodal->n_facet;
  for (int c = 0; c < to->n_columns; ++c)
    for (int p = 0; p < to->n_orbits; ++p)
      for (int s = 0; s < to->n; ++s) {
        const int place = to->row[p][s];
        if (place < 0) continue;
        double *const value = to->lift + (size_t)c * nodal->n + place;
        *value = kg_sector_has_part(to->column[c], s)
                     ? entry(nodal->lift, columns, to->orbit[p], s, to->column[c], s)
                     : 0.0;
        if (fabs(*value) < 1e-13) *value = 0.0;
      }
}

kedge_status kg_sectors_create(kedge_context *ctx, const kg_nodal *nodal, int n_sectors,
                               kg_sectors *out)
{
  const int d = nodal->cell->dimension, columns = nodal->cell->n_facets * nodal->n_facet;
  const size_t n = (size_t)nodal->n, m = (size_t)columns;
  const size_t doubles = n * n * (size_t)d + m * n + n * n;
  const size_t members = (2 * n + m) * KG_SECTORS_MAX;
  double *memory;
  *out = (kg_sectors){.n = n_sectors};
  KG_TRY(kg_host_alloc(ctx, doubles + (members + 1) / 2, sizeof *memory, &memory));
  out->derivative = memory;
  out->lift = memory + n * n * (size_t)d;
  double *const matrix = out->lift + m * n;
  out->orbit = (int32_t(*)[KG_SECTORS_MAX])(void *)(matrix + n * n);
  out->row = out->orbit + n;
  out->column = out->row + n;
  for (int b = 0; b < d; ++b) {
    out->shift[b] = n_sectors > 1 ? shift[b] : 0;
    for (int a = 0; a < d; ++a)
      out->combine[b][a] = n_sectors > 1 ? combine[b][a] : (double)(a == b);
  }
  out->n_orbits = list_orbits(nodal, out->n, nodal->n, node_after, out->orbit);
  out->n_columns = list_orbits(nodal, out->n, columns, column_after, out->column);
  number_rows(out);
  fill_derivative(nodal, out, matrix);
  fill_lift(nodal, out);
  return KEDGE_OK;
}

void kg_sectors_free(kg_sectors *sectors)
{
  free(sectors->derivative);
  *sectors = (kg_sectors){0};
}

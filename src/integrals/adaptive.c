#include "integrals/adaptive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { FEW_CUTS = 32 };  ///< with which peaks and corners end

/// Parts of an element, none of which is cut, and their integrals.
typedef struct leaves {
  const kg_integrand *of;
  int32_t item;
  kg_part_shape shape;
  int n, room;
  kg_part *part;
  double *sums;                ///< [leaf][n]
  double *size, *rough, *err;  ///< [leaf]; the last: what a cut may change
} leaves;

kg_part kg_whole_part(kg_part_shape shape)
{
  if (shape == KG_PART_INTERVAL) return (kg_part){.corner = {{-1.0}, {1.0}}};
  if (shape == KG_PART_TETRAHEDRON)
    return (kg_part){
        .corner = {{-1.0, -1.0, -1.0}, {1.0, -1.0, -1.0}, {-1.0, 1.0, -1.0}, {-1.0, -1.0, 1.0}}};
  return (kg_part){.corner = {{-1.0, -1.0}, {1.0, -1.0}, {-1.0, 1.0}}};
}

/// How many parts one is cut into.
static int parts_of(kg_part_shape shape)
{
  return shape == KG_PART_INTERVAL ? 2 : shape == KG_PART_TETRAHEDRON ? 8 : 4;
}

static void middle(const double a[3], const double b[3], double to[3])
{
  for (int k = 0; k < 3; ++k) to[k] = 0.5 * (a[k] + b[k]);
}

/// Cut a tetrahedron into four at its corners and four of the octahedron between them, in the order
/// of corners in which parts of parts are of three shapes and no more.
static int cut_tetrahedron(const kg_part *whole, kg_part *parts)
{
  // A corner is the middle of two of the whole.
  static const int of[8][4][2] = {
      {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {1, 1}, {1, 2}, {1, 3}},
      {{0, 2}, {1, 2}, {2, 2}, {2, 3}}, {{0, 3}, {1, 3}, {2, 3}, {3, 3}},
      {{0, 1}, {0, 2}, {0, 3}, {1, 3}}, {{0, 1}, {0, 2}, {1, 2}, {1, 3}},
      {{0, 2}, {0, 3}, {1, 3}, {2, 3}}, {{0, 2}, {1, 2}, {1, 3}, {2, 3}}};
  for (int i = 0; i < 8; ++i) {
    parts[i].depth = whole->depth + 1;
    for (int l = 0; l < 4; ++l)
      middle(whole->corner[of[i][l][0]], whole->corner[of[i][l][1]], parts[i].corner[l]);
  }
  return 8;
}

/// Cut a part in halves in each direction. @return the number of parts
static int cut(kg_part_shape shape, const kg_part *whole, kg_part *parts)
{
  const double(*const c)[3] = whole->corner;
  const int n = parts_of(shape);
  double ab[3], ac[3], bc[3];
  if (shape == KG_PART_TETRAHEDRON) return cut_tetrahedron(whole, parts);
  middle(c[0], c[1], ab);
  middle(c[0], c[2], ac);
  middle(c[1], c[2], bc);
  for (int i = 0; i < n; ++i) parts[i] = (kg_part){.depth = whole->depth + 1};
  for (int k = 0; k < 2; ++k) {
    const double of[4][3] = {{c[0][k], ab[k], ac[k]},
                             {ab[k], c[1][k], bc[k]},
                             {ac[k], bc[k], c[2][k]},
                             {bc[k], ac[k], ab[k]}};
    for (int i = 0; i < n; ++i)
      for (int l = 0; l < 3; ++l) parts[i].corner[l][k] = of[i][l];
    // The last parallelogram has its corner in the middle, and goes on in both directions.
    if (shape != KG_PART_SQUARE) continue;
    parts[3].corner[1][k] = bc[k] + (c[1][k] - ab[k]);
    parts[3].corner[2][k] = bc[k] + (c[2][k] - ac[k]);
  }
  return n;
}

double kg_integral_change(int n, const double *whole, int n_parts, const double *parts)
{
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    double by = whole[i];
    for (int k = 0; k < n_parts; ++k) by -= parts[k * n + i];
    sum += by * by;
  }
  return sqrt(sum);
}

double kg_integral_size(const kg_integrand *of, int32_t item, double *sums)
{
  const kg_part whole = kg_whole_part(of->shape(of->user, item));
  double size, rough;
  of->sum(of->user, item, 1, &whole, sums, &size, &rough);
  return isfinite(size) ? size : 0.0;
}

void kg_integral_try(const kg_integrand *of, int32_t item, double *sums, kg_integral *out)
{
  const kg_part whole = kg_whole_part(of->shape(of->user, item));
  kg_part parts[KG_PARTS_MAX];
  double size[KG_PARTS_MAX], rough[KG_PARTS_MAX];
  const int n = cut(of->shape(of->user, item), &whole, parts);
  of->sum(of->user, item, 1, &whole, sums, &out->seen, &out->rough);
  of->sum(of->user, item, n, parts, sums + of->n, size, rough);
  out->size = 0.0;
  for (int k = 0; k < n; ++k) out->size += size[k];
  out->moved = kg_integral_change(of->n, sums, n, sums + of->n);
}

/// Cut a leaf: the first part takes its place. Parts that have values that are not finite are not
/// taken: the leaf stays, and is not cut again.
/// @param[in] judges  share what the cut changes out to the parts, by what of them is rough
static void cut_leaf(leaves *l, int at, bool judges)
{
  const int n = l->of->n, end = l->n;
  if (l->part[at].depth >= KG_PART_DEPTH) return;
  kg_part parts[KG_PARTS_MAX];
  const int n_parts = cut(l->shape, &l->part[at], parts);
  double *const sums = l->sums + (size_t)end * (size_t)n;  // room of all parts but one, and work
  double size[KG_PARTS_MAX], rough[KG_PARTS_MAX], total = 0.0;
  double found = -2.0 * l->size[at];
  l->of->sum(l->of->user, l->item, n_parts, parts, sums, size, rough);
  const double moved = kg_integral_change(n, l->sums + (size_t)at * (size_t)n, n_parts, sums);
  if (!isfinite(moved)) {
    l->part[at].depth = KG_PART_DEPTH;
    l->err[at] = l->size[at];
    return;
  }
  for (int k = 0; k < n_parts; ++k) total += rough[k], found += size[k];
  for (int k = 0; k < n_parts; ++k) {
    const int to = k == 0 ? at : end + k - 1;
    l->part[to] = parts[k];
    l->part[to].is_found = found > 0.0;
    l->size[to] = size[k];
    l->rough[to] = rough[k];
    l->err[to] = !judges ? 0.0 : total > 0.0 ? moved * (rough[k] / total) : moved / n_parts;
  }
  memcpy(l->sums + (size_t)at * (size_t)n, sums, (size_t)n * sizeof *sums);
  memmove(sums, sums + n, (size_t)(n_parts - 1) * (size_t)n * sizeof *sums);
  l->n += n_parts - 1;
}

static double sum_of(int n, const double *values)
{
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}

/// The leaf that a cut may change most; -1: none can be cut.
static int worst_leaf(const leaves *l)
{
  int worst = -1;
  for (int i = 0; i < l->n; ++i)
    if (l->part[i].depth < KG_PART_DEPTH && l->err[i] > (worst < 0 ? 0.0 : l->err[worst]))
      worst = i;
  return worst;
}

/// Whether two parts touch, or nearly.
static bool touch(kg_part_shape shape, const kg_part *a, const kg_part *b)
{
  const int corners = shape == KG_PART_INTERVAL ? 2 : shape == KG_PART_TETRAHEDRON ? 4 : 3;
  for (int k = 0; k < 3; ++k) {
    double least[2], most[2];
    const kg_part *const part[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
      least[i] = most[i] = part[i]->corner[0][k];
      for (int l = 1; l < corners; ++l) {
        least[i] = fmin(least[i], part[i]->corner[l][k]);
        most[i] = fmax(most[i], part[i]->corner[l][k]);
      }
    }
    if (least[0] > most[1] || least[1] > most[0]) return false;
  }
  return true;
}

/// Cut leaves beside much smaller ones where something was found: it may go on there, between
/// points that are too far apart to see it. @return whether one was cut
static bool cut_beside(leaves *l, double size)
{
  const int n = l->n;
  bool any = false;
  for (int i = 0; i < n; ++i) {
    const kg_part small = l->part[i];
    bool done = true;
    if (!small.is_found) continue;
    for (int j = 0; j < n && l->size[i] > KG_INTEGRAL_TOLERANCE * size; ++j) {
      if (l->n + 2 * KG_PARTS_MAX > l->room) return any;
      if (l->part[j].depth >= small.depth - 1 || !touch(l->shape, &l->part[j], &small)) continue;
      cut_leaf(l, j, true);
      any = true;
      done = false;
    }
    l->part[i].is_found = !done;
  }
  return any;
}

/// Cut the leaf that moves most until little is left: the more cuts there were, the more that is.
/// A jump along a line leaves half as much with twice the cuts.
static void cut_worst(leaves *l, double scale, kg_integral *out)
{
  for (int cuts = 0;; ++cuts) {
    out->size = sum_of(l->n, l->size);
    out->left = sum_of(l->n, l->err);
    const double many = cuts > FEW_CUTS ? (double)cuts / FEW_CUTS : 1.0;
    const double enough =
        KG_INTEGRAL_TOLERANCE * many * many * (out->size > scale ? out->size : scale);
    if (!(out->left > enough)) return;
    const int worst = worst_leaf(l);
    out->is_bounded = worst < 0 || l->n + 2 * KG_PARTS_MAX > l->room;
    if (out->is_bounded) return;
    cut_leaf(l, worst, true);
    while (cut_beside(l, out->size)) {
    }
  }
}

/// The whole, cut `before` times everywhere. The last of these cuts is judged.
static void begin(leaves *l, int before)
{
  l->part[0] = kg_whole_part(l->shape);
  l->n = 1;
  l->err[0] = 0.0;
  l->of->sum(l->of->user, l->item, 1, l->part, l->sums, l->size, l->rough);
  for (int level = 0; level < before; ++level)
    for (int i = 0, n = l->n; i < n; ++i) cut_leaf(l, i, level == before - 1);
}

kedge_status kg_integral_make(kedge_context *ctx, const kg_integrand *of, int32_t item,
                              double scale, int before, int most, kg_integral *out)
{
  const kg_part_shape shape = of->shape(of->user, item);
  const int n_parts = parts_of(shape), n = of->n;
  int first = 1;
  for (int level = 0; level < before; ++level) first *= n_parts;
  const int room = first + (n_parts - 1) * most + 2 * KG_PARTS_MAX;
  double *memory;
  kg_part *parts;
  KG_TRY(kg_host_alloc(ctx, (size_t)room, sizeof *parts, &parts));
  const kedge_status status =
      kg_host_alloc(ctx, (size_t)room * (size_t)(n + 3), sizeof *memory, &memory);
  if (status == KEDGE_OK) {
    double *const size = memory + (size_t)room * (size_t)n;
    leaves l = {of,    item,   shape, 0,           room,
                parts, memory, size,  size + room, size + 2 * (size_t)room};
    begin(&l, before);
    cut_worst(&l, scale, out);
    memset(out->sums, 0, (size_t)n * sizeof *out->sums);
    for (int k = 0; k < l.n; ++k)
      for (int i = 0; i < n; ++i) out->sums[i] += l.sums[(size_t)k * (size_t)n + (size_t)i];
    free(memory);
  }
  free(parts);
  return status;
}

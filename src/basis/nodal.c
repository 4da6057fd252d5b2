#include "basis/nodal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "core/memory.h"

enum {
  CORNERS = KG_FACETS_MAX,
  LINE = KG_NODAL_ORDER_MAX + 1,  ///< nodes of a line, at most
};

/// Blending numbers by order, of tetrahedra also on their facets.
static const long double blending[2][KG_NODAL_ORDER_MAX] = {
    {0.0L, 0.0L, 1.4152L, 0.1001L, 0.2751L, 0.98L, 1.0999L, 1.2832L, 1.3648L},
    {0.0L, 0.0L, 0.0L, 0.1002L, 1.1332L, 1.5608L, 1.3413L, 1.2577L, 1.1603L}};

/// How far Gauss-Lobatto points of a line are from equispaced ones, as the polynomial through these
/// distances, over 1 - r^2.
typedef struct warping {
  int order;
  long double alpha;
  long double distance[LINE];
} warping;

static warping warping_of(int dimension, int order)
{
  warping w = {order, blending[dimension - 2][order - 1], {0.0L}};
  // The inner points are the roots of the derivative of the Legendre polynomial, by Newton.
  for (int i = 1; i < order; ++i) {
    long double x = -cosl(acosl(-1.0L) * i / order);
    for (int step = 0; step < 50; ++step) {
      long double before = 1.0L, p = x;
      for (int k = 1; k < order; ++k) {
        const long double next = ((2 * k + 1) * x * p - k * before) / (k + 1);
        before = p;
        p = next;
      }
      // (1 - x^2) P' and its derivative, -n (n + 1) P
      x += order * (before - x * p) / (order * (order + 1.0L) * p);
    }
    w.distance[i] = x - (2.0L * i / order - 1.0L);
  }
  return w;
}

static long double warp(const warping *w, long double r)
{
  long double sum = 0.0L;
  for (int i = 1; i < w->order; ++i) {
    const long double x = 2.0L * i / w->order - 1.0L;
    // The Lagrange function, without the factors of both ends: these are (1 - r^2) / (1 - x^2).
    long double value = w->distance[i] / (1.0L - x * x);
    for (int j = 1; j < w->order; ++j)
      if (j != i) value *= (r - (2.0L * j / w->order - 1.0L)) / (x - (2.0L * j / w->order - 1.0L));
    sum += value;
  }
  return sum;
}

/// Move a point of a triangle of three corners.
/// @param[in]     share  its barycentric coordinates, whose sum inside of a tetrahedron is not 1
/// @param[in,out] move   of each corner
static void warp_triangle(const warping *w, const long double share[3], long double move[3])
{
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    const long double far = w->alpha * share[k];
    const long double along =
        2.0L * share[a] * share[b] * warp(w, share[b] - share[a]) * (1.0L + far * far);
    move[b] += along;
    move[a] -= along;
  }
}

/// The move of a point with respect to the facet opposite a corner.
static void warp_facet(const warping *w, int corner, const int step[CORNERS], long double move[])
{
  const int other[3] = {corner == 0, 1 + (corner <= 1), 2 + (corner <= 2)};
  const long double far = w->alpha * step[corner] / w->order, half = 0.5L * step[corner];
  long double share[3], own[3] = {0.0L}, blend = 1.0L;
  bool fades = true;
  for (int k = 0; k < 3; ++k) {
    share[k] = (long double)step[other[k]] / w->order;
    fades = fades && step[other[k]] + half > 0.0L;
    blend *= step[other[k]] + half > 0.0L ? step[other[k]] / (step[other[k]] + half) : 1.0L;
  }
  if (!fades) return;  // an edge, which other facets have, or a corner
  warp_triangle(w, share, own);
  for (int k = 0; k < 3; ++k) move[other[k]] += blend * (1.0L + far * far) * own[k];
}

/// The facets of a tetrahedron that meet in an edge agree on its nodes.
static void warp_edge(const warping *w, const int step[CORNERS], long double move[])
{
  int corner[2] = {0, 0}, n = 0;
  for (int c = 0; c < CORNERS; ++c)
    if (step[c] > 0) corner[n++ % 2] = c;
  if (n != 2) return;
  const long double share[3] = {0.0L, (long double)step[corner[0]] / w->order,
                                (long double)step[corner[1]] / w->order};
  long double own[3] = {0.0L};
  warp_triangle(w, share, own);
  move[corner[0]] = own[1];
  move[corner[1]] = own[2];
}

static int corners_with_steps(const int step[CORNERS])
{
  return (step[0] > 0) + (step[1] > 0) + (step[2] > 0) + (step[3] > 0);
}

/// The node that has so many steps from the facet opposite each corner, their sum being the order.
static void place(const warping *w, int dimension, const int step[CORNERS], long double at[3])
{
  long double share[CORNERS], move[CORNERS] = {0.0L};
  for (int c = 0; c <= dimension; ++c) share[c] = (long double)step[c] / w->order;
  if (dimension == 2)
    warp_triangle(w, share, move);
  else if (corners_with_steps(step) == 2)
    warp_edge(w, step, move);
  else
    for (int c = 0; c < CORNERS; ++c) warp_facet(w, c, step, move);
  for (int k = 0; k < dimension; ++k) at[k] = 2.0L * (share[k + 1] + move[k + 1]) - 1.0L;
}

/// [n][n] matrices of one create.
typedef struct work {
  long double *vandermonde, *inverse, *slope, *facet, *facet_inverse, *product;
} work;

/// Invert by elimination with pivots; a Vandermonde matrix of these nodes is far from singular.
/// @param[in,out] a  is destroyed
static void invert(int n, long double *a, long double *inverse)
{
  for (int i = 0; i < n * n; ++i) inverse[i] = i % (n + 1) == 0;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (fabsl(a[i * n + k]) > fabsl(a[pivot * n + k])) pivot = i;
    for (int j = 0; j < n; ++j) {
      long double swap = a[k * n + j];
      a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = swap;
      swap = inverse[k * n + j];
      inverse[k * n + j] = inverse[pivot * n + j], inverse[pivot * n + j] = swap;
    }
    const long double scale = 1.0L / a[k * n + k];
    for (int j = 0; j < n; ++j) a[k * n + j] *= scale, inverse[k * n + j] *= scale;
    for (int i = 0; i < n; ++i) {
      const long double factor = a[i * n + k];
      if (i == k || factor == 0.0L) continue;
      for (int j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
}

/// The steps of all nodes. @param[out] step  [n][CORNERS]
static void list_steps(int dimension, int order, int (*step)[CORNERS])
{
  int n = 0;
  for (int k = 0; k <= (dimension == 3 ? order : 0); ++k)
    for (int j = 0; j + k <= order; ++j)
      for (int i = 0; i + j + k <= order; ++i) {
        const int all[CORNERS] = {order - i - j - k, i, j, k};
        memcpy(step[n++], all, sizeof all);
      }
}

static int find_steps(int n, const int (*step)[CORNERS], const int wanted[CORNERS])
{
  int i = 0;
  while (i < n && memcmp(step[i], wanted, sizeof step[i]) != 0) ++i;
  return i;
}

static void list_facets(kg_nodal *to, const int (*step)[CORNERS])
{
  const kg_cell *const cell = to->cell;
  for (int l = 0; l < cell->n_facets; ++l) {
    int m = 0;
    for (int j = 0; j <= (cell->dimension == 3 ? to->order : 0); ++j)
      for (int i = 0; i + j <= to->order; ++i) {
        int wanted[CORNERS] = {0};
        const int *const corner = cell->facet_corner[l];
        wanted[corner[0]] = to->order - i - j;
        wanted[corner[1]] = i;
        if (cell->dimension == 3) wanted[corner[2]] = j;
        to->facet_node[l * to->n_facet + m++] = find_steps(to->n, step, wanted);
      }
  }
}

/// V^-1, the mass matrix and D_a.
static void fill_matrices(kg_nodal *to, const long double (*at)[3], const work *w)
{
  const int n = to->n, dimension = to->cell->dimension;
  long double *const slope[3] = {w->slope, w->slope + n * n, w->slope + 2 * n * n};
  for (int i = 0; i < n; ++i) {
    long double *const row[3] = {slope[0] + i * n, slope[1] + i * n, slope[2] + i * n};
    to->cell->modes(to->order, at[i], w->vandermonde + i * n, row);
  }
  memcpy(w->product, w->vandermonde, (size_t)n * n * sizeof *w->product);
  invert(n, w->product, w->inverse);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      long double mass = 0.0L, derivative[3] = {0.0L};
      for (int k = 0; k < n; ++k) {
        mass += w->inverse[k * n + i] * w->inverse[k * n + j];
        for (int a = 0; a < dimension; ++a)
          derivative[a] += slope[a][i * n + k] * w->inverse[k * n + j];
      }
      to->mass[i * n + j] = (double)mass;
      to->modes[i * n + j] = (double)w->inverse[i * n + j];
      for (int a = 0; a < dimension; ++a)
        to->derivative[(a * n + i) * n + j] = (double)derivative[a];
    }
}

/// LIFT = V V^T E, E having the mass matrix of each facet in the rows of its nodes.
static void fill_lift(kg_nodal *to, const long double (*at)[3], const work *w)
{
  const kg_cell *const cell = to->cell;
  const int n = to->n, m = to->n_facet, columns = cell->n_facets * m;
  for (int i = 0; i < m; ++i) {  // the coordinates of facet 0, from those of the element
    const int *const corner = cell->facet_corner[0];
    const long double *const x = at[to->facet_node[i]];
    long double on[2];
    for (int k = 0; k < cell->dimension - 1; ++k) {
      const int c = corner[k + 1];  // the share of that corner is 1 + its coordinate over 2
      on[k] = c > 0 ? x[c - 1] : 0.0L;
    }
    cell->facet->modes(to->order, on, w->facet + i * m, NULL);
  }
  invert(m, w->facet, w->facet_inverse);
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < cell->n_facets; ++l)
      for (int j = 0; j < m; ++j) {
        long double sum = 0.0L;
        for (int p = 0; p < m; ++p) {
          const int row = to->facet_node[l * m + p];
          long double inverse_mass = 0.0L, facet_mass = 0.0L;
          for (int k = 0; k < n; ++k)
            inverse_mass += w->vandermonde[i * n + k] * w->vandermonde[row * n + k];
          for (int k = 0; k < m; ++k)
            facet_mass += w->facet_inverse[k * m + p] * w->facet_inverse[k * m + j];
          sum += inverse_mass * facet_mass;
        }
        to->lift[i * columns + l * m + j] = (double)sum;
      }
}

static kedge_status fill(kedge_context *ctx, kg_nodal *to)
{
  const int dimension = to->cell->dimension;
  const size_t n = (size_t)to->n, m = (size_t)to->n_facet;
  const warping warped = warping_of(dimension, to->order);
  long double *memory = NULL, (*at)[3] = NULL;
  int(*step)[CORNERS] = NULL;
  kedge_status status = kg_host_alloc(ctx, 6 * n * n + 2 * m * m, sizeof *memory, &memory);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, n, sizeof *at, &at);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, n, sizeof *step, &step);
  if (status == KEDGE_OK) {
    long double *const facet = memory + 6 * n * n;
    const work w = {memory, memory + n * n, memory + 2 * n * n,
                    facet,  facet + m * m,  memory + 5 * n * n};
    list_steps(dimension, to->order, step);
    for (size_t i = 0; i < n; ++i) {
      place(&warped, dimension, step[i], at[i]);
      for (int k = 0; k < dimension; ++k) to->at[(size_t)k * n + i] = (double)at[i][k];
    }
    list_facets(to, step);
    fill_matrices(to, (const long double(*)[3])at, &w);
    fill_lift(to, (const long double(*)[3])at, &w);
  }
  free(step);
  free(at);
  free(memory);
  return status;
}

kedge_status kg_nodal_create(kedge_context *ctx, const kg_cell *cell, int order, kg_nodal *out)
{
  const size_t d = (size_t)cell->dimension, n = (size_t)cell->n_modes(order);
  const size_t columns = (size_t)(cell->n_facets * cell->facet->n_modes(order));
  const size_t doubles = d * n + d * n * n + n * columns + 2 * n * n;
  double *memory;
  *out = (kg_nodal){0};
  KG_TRY(kg_host_alloc(ctx, doubles + (columns + 1) / 2, sizeof *memory, &memory));
  *out = (kg_nodal){.cell = cell,
                    .order = order,
                    .n = (int)n,
                    .n_facet = cell->facet->n_modes(order),
                    .at = memory};
  out->derivative = out->at + d * n;
  out->lift = out->derivative + d * n * n;
  out->mass = out->lift + n * columns;
  out->modes = out->mass + n * n;
  out->facet_node = (int32_t *)(out->modes + n * n);
  const kedge_status status = fill(ctx, out);
  if (status != KEDGE_OK) kg_nodal_free(out);
  return status;
}

void kg_nodal_free(kg_nodal *nodal)
{
  free(nodal->at);
  *nodal = (kg_nodal){0};
}

// The elements of a locator, as polynomials and boxes.
#include "solution/located_maps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "ops/sample/locate.h"
#include "solution/values.h"

enum { LOOKED_AT_MAX = (3 * KG_GEOMETRY_MAX + 1) * (3 * KG_GEOMETRY_MAX + 1) };

int kg_nodes_from_0(const kg_cell *cell, int order, double *const *at)
{
  const int n = cell->n_modes(order);
  cell->nodes(order, at);
  for (int d = 0; d < cell->dimension; ++d)
    for (int i = 0; i < n; ++i) at[d][i] = 0.5 * (at[d][i] + 1.0);
  return n;
}

/// Replace a matrix by its inverse. @param[in,out] a  [n][2 n], the second half is work
static void invert(int n, long double *a)
{
  const int w = 2 * n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * w + n + j] = i == j;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (fabsl(a[i * w + k]) > fabsl(a[best * w + k])) best = i;
    for (int j = k; j < w; ++j) {
      const long double pivot = a[best * w + j];
      a[best * w + j] = a[k * w + j];
      a[k * w + j] = pivot;
    }
    for (int j = w - 1; j >= k; --j) a[k * w + j] /= a[k * w + k];
    for (int i = 0; i < n; ++i)
      for (int j = w - 1; i != k && j >= k; --j) a[i * w + j] -= a[i * w + k] * a[k * w + j];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * w + j] = a[i * w + n + j];
}

/// A block of the mesh, and what its elements are measured with.
typedef struct ruler {
  const kg_block *block;
  bool triangle;
  int geometry, n_powers;
  double power_of_node[KG_NODES_MAX * KG_NODES_MAX];  ///< [power][node]: of a map
  int n_looked_at;
  double x[LOOKED_AT_MAX], y[LOOKED_AT_MAX];  ///< places in the shape, whose images the box holds
} ruler;

static kedge_status make_ruler(kedge_context *ctx, const kedge_mesh *mesh, int b, ruler *out)
{
  const kg_block *const block = &mesh->block[b];
  const int g = mesh->nodes ? mesh->geometry : 1;
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  long double *m;
  out->block = block;
  out->triangle = block->cell == &kg_triangle;
  out->geometry = g;
  const int n = out->n_powers = kg_nodes_from_0(block->cell, g, (double *const[]){x, y});
  out->n_looked_at =
      kg_nodes_from_0(block->cell, g > 1 ? 3 * g : 1, (double *const[]){out->x, out->y});
  KG_TRY(kg_host_alloc(ctx, 2 * (size_t)n * (size_t)n, sizeof *m, &m));
  for (int l = 0; l < n; ++l)
    for (int j = 0, k = 0; j <= g; ++j)
      for (int i = 0; i <= (out->triangle ? g - j : g); ++i, ++k)
        m[l * 2 * n + k] = powl(x[l], i) * powl(y[l], j);
  invert(n, m);
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) out->power_of_node[k * n + l] = (double)m[k * 2 * n + l];
  free(m);
  return KEDGE_OK;
}

/// The coefficients of an element's map.
static void make_map(const kedge_mesh *mesh, const ruler *r, int32_t element, double *c)
{
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  const int n = kg_nodes_of(mesh, element, x, y);
  for (int k = 1; k < n; ++k) {
    const double *const row = r->power_of_node + k * n;
    c[2 * k] = c[2 * k + 1] = 0.0;
    for (int l = 1; l < n; ++l) {
      c[2 * k] += row[l] * (x[l] - x[0]);
      c[2 * k + 1] += row[l] * (y[l] - y[0]);
    }
  }
  c[0] = x[0];
  c[1] = y[0];
}

/// Compute the bounding box of an element, and the tolerance of the test whether a point lies in
/// it. The tolerance is in coordinates of the reference element. It is 1e-9, or more far from the
/// origin, where the rounding of coordinates is larger than that.
/// @param[out] box   also of points outside, at a distance of `reach`
/// @param[out] wide  the tolerance of these points too; NULL: it is not asked for
static void measure(const ruler *r, const double *c, double reach, double box[4], double *tolerance,
                    double *wide)
{
  const double middle = r->triangle ? 1.0 / 3.0 : 0.5;
  double most = 0.0, m[3][2];
  for (int d = 0; d < 2; ++d) box[d] = INFINITY, box[d + 2] = -INFINITY;
  for (int i = 0; i < r->n_looked_at; ++i) {
    kg_map_at(r->triangle, r->geometry, c, r->x[i], r->y[i], m);
    for (int d = 0; d < 2; ++d) {
      const double at = m[0][d] + c[d];
      box[d] = fmin(box[d], at);
      box[d + 2] = fmax(box[d + 2], at);
      most = fmax(most, fabs(at));
    }
  }
  const double size = fmax(box[2] - box[0], box[3] - box[1]), rounding = 8.0 * DBL_EPSILON * most;
  // Curves may go further between the places that were looked at.
  const double margin = rounding + reach + size * (r->geometry == 1 ? 1e-8 : 0.05);
  for (int d = 0; d < 2; ++d) box[d] -= margin, box[d + 2] += margin;
  kg_map_at(r->triangle, r->geometry, c, middle, middle, m);
  const double height = fabs(m[1][0] * m[2][1] - m[1][1] * m[2][0]) / size;
  *tolerance = fmax(1e-9, rounding / fmax(height, 1e-300));
  if (wide) *wide = fmax(1e-9, (rounding + reach) / fmax(height, 1e-300));
}

static kedge_status locate_plane(kedge_context *ctx, const kedge_mesh *mesh, int b, double *maps,
                                 const kg_located_boxes *to)
{
  const kg_block *const block = &mesh->block[b];
  ruler *r;
  KG_TRY(kg_host_alloc(ctx, 1, sizeof *r, &r));
  const kedge_status status = make_ruler(ctx, mesh, b, r);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, block->n, 100))
  for (int32_t e = 0; e < (status == KEDGE_OK ? block->n : 0); ++e) {
    double *const map = maps + 2 * (size_t)e * (size_t)r->n_powers;
    const int32_t element = block->first + e;
    make_map(mesh, r, element, map);
    measure(r, map, to->reach, to->box + 4 * (size_t)element, &to->tolerance[element],
            to->wide ? &to->wide[element] : NULL);
  }
  free(r);
  return status;
}

static double length_of(const double *a)
{
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/// The least height of a tetrahedron: its volume over the largest area of a face.
static double height_of(const double *c)
{
  static const int face[4][2] = {{1, 2}, {1, 3}, {2, 3}, {0, 0}};
  double most = 0.0;
  for (int f = 0; f < 4; ++f) {
    double a[3], b[3], normal[3];
    for (int d = 0; d < 3; ++d) {
      a[d] = f < 3 ? c[3 * face[f][0] + d] : c[6 + d] - c[3 + d];
      b[d] = f < 3 ? c[3 * face[f][1] + d] : c[9 + d] - c[3 + d];
    }
    for (int d = 0; d < 3; ++d)
      normal[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    most = fmax(most, length_of(normal));
  }
  return fabs(kg_triple(c + 3, c + 6, c + 9)) / most;
}

/// Corner 0 and the edges from there; the box, and the tolerance, which is as that of measure().
static void locate_tetrahedron(const kedge_mesh *mesh, int32_t element, double *c,
                               const kg_located_boxes *to)
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  double *const box = to->box + 6 * (size_t)element;
  double most = 0.0, size = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double first = c[d] = mesh->vertices[3 * (int64_t)v[0] + d];
    box[d] = box[3 + d] = first;
    for (int l = 0; l < 4; ++l) {
      const double at = mesh->vertices[3 * (int64_t)v[l] + d];
      if (l > 0) c[3 * l + d] = at - first;
      box[d] = fmin(box[d], at);
      box[3 + d] = fmax(box[3 + d], at);
      most = fmax(most, fabs(at));
    }
    size = fmax(size, box[3 + d] - box[d]);
  }
  const double rounding = 8.0 * DBL_EPSILON * most, height = fmax(height_of(c), 1e-300);
  const double margin = rounding + to->reach + 1e-8 * size;
  for (int d = 0; d < 3; ++d) box[d] -= margin, box[3 + d] += margin;
  to->tolerance[element] = fmax(1e-9, rounding / height);
  if (to->wide) to->wide[element] = fmax(1e-9, (rounding + to->reach) / height);
}

kedge_status kg_locate_block(kedge_context *ctx, const kedge_mesh *mesh, int b, double *maps,
                             const kg_located_boxes *to)
{
  const kg_block *const block = &mesh->block[b];
  if (!kg_mesh_in_space(mesh)) return locate_plane(ctx, mesh, b, maps, to);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, block->n, 100))
  for (int32_t e = 0; e < block->n; ++e)
    locate_tetrahedron(mesh, block->first + e, maps + 12 * (size_t)e, to);
  return KEDGE_OK;
}

// The elements that hold points, and those that hold points next to them.
#include "solution/find_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "ops/local/tetrahedron/tetrahedra.h"
#include "solution/locator.h"
#include "solution/values.h"

/// How far outside of the mesh a point counts as inside, of the size of the mesh.
#define REACH 1e-9

static double size_of(const kedge_mesh *mesh)
{
  double size = 0.0;
  for (int d = 0; d < mesh->dimension; ++d)
    size = fmax(size, mesh->info.high[d] - mesh->info.low[d]);
  return size;
}

/// Move a place, in coordinates of the reference element from 0 to 1, onto the element if it lies
/// outside.
static void clamp(bool triangle, double place[2])
{
  for (int d = 0; d < 2; ++d) place[d] = fmin(fmax(place[d], 0.0), 1.0);
  const double beyond = 0.5 * (place[0] + place[1] - 1.0);
  if (!triangle || beyond <= 0.0) return;
  for (int d = 0; d < 2; ++d) place[d] = fmax(place[d] - beyond, 0.0);
}

/// Likewise onto a tetrahedron: at right angles to the faces that the place lies outside of, the
/// farthest first.
static void clamp_in_space(const kedge_mesh *mesh, int32_t element, double place[3])
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  double share[4] = {1.0 - place[0] - place[1] - place[2], place[0], place[1], place[2]}, sum = 0.0;
  double x[4][3];
  kg_tetrahedron_factors t;
  for (int l = 0; l < 4; ++l)
    for (int d = 0; d < 3; ++d) x[l][d] = mesh->vertices[3 * (int64_t)v[l] + d];
  kg_tetrahedron_geometry(x, &t);
  for (int step = 0; step < 3; ++step) {
    double most = 0.0, ratio[4];
    int far = -1;
    for (int l = 0; l < 4; ++l) {  // share over the length of its gradient is a distance
      const double outside = -share[l] / sqrt(kg_space_dot(t.normal[l], t.normal[l]));
      if (outside > most) most = outside, far = l;
    }
    if (far < 0) return;
    for (int l = 0; l < 4; ++l)
      ratio[l] =
          kg_space_dot(t.normal[l], t.normal[far]) / kg_space_dot(t.normal[far], t.normal[far]);
    const double part = share[far];
    for (int l = 0; l < 4; ++l) share[l] -= ratio[l] * part;
    share[far] = 0.0;
    for (int d = 0; d < 3; ++d) place[d] = share[d + 1];
  }
  for (int l = 0; l < 4; ++l) sum += share[l] = fmax(share[l], 0.0);
  for (int d = 0; d < 3; ++d) place[d] = share[d + 1] / sum;
}

/// Where a place of an element is.
/// @param[in]  at  in the reference shape
/// @param[out] x   [dimension]
static void place_of(const kedge_mesh *mesh, int32_t element, const double *at, long double *x)
{
  if (kg_mesh_in_space(mesh)) {
    double place[3];
    kg_tetrahedron_point(mesh, element, at, place);
    for (int d = 0; d < 3; ++d) x[d] = place[d];
    return;
  }
  double xs[KG_NODES_MAX], ys[KG_NODES_MAX];
  long double map[3 * KG_NODES_MAX];
  const int n = kg_nodes_of(mesh, element, xs, ys);
  kg_block_of(mesh, element)->cell->map(mesh->geometry, (const long double[]){at[0], at[1]}, map);
  x[0] = x[1] = 0.0L;
  for (int l = 0; l < n; ++l) {
    x[0] += map[l] * xs[l];
    x[1] += map[l] * ys[l];
  }
}

/// The distance of point i from a place of an element.
static double distance(const kedge_mesh *mesh, int32_t element, const double *at,
                       const double *const *x, int64_t i)
{
  long double there[3], sum = 0.0L;
  place_of(mesh, element, at, there);
  for (int d = 0; d < mesh->dimension; ++d) sum = hypotl(sum, x[d][i] - there[d]);
  return (double)sum;
}

/// Bring what has been found of a point onto its element.
/// @param[in,out] at  as kg_locator_find() gives it; as kg_points_find() does
static void settle(const kedge_mesh *mesh, int32_t element, double *at)
{
  if (kg_mesh_in_space(mesh))
    clamp_in_space(mesh, element, at);
  else
    clamp(kg_block_of(mesh, element)->cell == &kg_triangle, at);
  for (int d = 0; d < mesh->dimension; ++d) at[d] = 2.0 * at[d] - 1.0;
}

/// Points that are in no element.
typedef struct lost {
  int64_t n, *point;  ///< [n]
  double *x[3], *place;
  int32_t *element;
} lost;

static void lost_free(lost *l)
{
  free(l->point);
  for (int d = 0; d < 3; ++d) free(l->x[d]);
  free(l->place);
  free(l->element);
}

static kedge_status lost_create(kedge_context *ctx, int dimension, int64_t n,
                                const double *const *x, const int32_t *element, lost *l)
{
  size_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += element[i] < 0;
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->point, &l->point));
  for (int d = 0; d < dimension; ++d) KG_TRY(kg_host_alloc(ctx, count, sizeof *l->x[d], &l->x[d]));
  KG_TRY(kg_host_alloc(ctx, count, (size_t)dimension * sizeof *l->place, &l->place));
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->element, &l->element));
  for (int64_t i = 0; i < n; ++i) {
    if (element[i] >= 0) continue;
    for (int d = 0; d < dimension; ++d) l->x[d][l->n] = x[d][i];
    l->point[l->n++] = i;
  }
  return KEDGE_OK;
}

/// Look for elements near points that are lost.
static kedge_status find_near(kedge_locator *locator, const kedge_mesh *mesh, double reach, lost *l,
                              int32_t *element, double *at)
{
  const int dimension = mesh->dimension;
  const double *const x[] = {l->x[0], l->x[1], l->x[2]};
  KG_TRY(kg_locator_reach_out(locator));
  KG_TRY(kg_locator_find(locator, l->n, x, l->element, l->place));
  for (int64_t k = 0; k < l->n; ++k) {
    double *const place = l->place + dimension * k;
    const int32_t found = l->element[k];
    if (found < 0) continue;
    settle(mesh, found, place);
    if (!(distance(mesh, found, place, x, k) <= reach)) continue;
    element[l->point[k]] = found;
    for (int d = 0; d < dimension; ++d) at[dimension * l->point[k] + d] = place[d];
  }
  return KEDGE_OK;
}

kedge_status kg_points_find(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                            const double *const *x, int32_t *element, double *at)
{
  const double reach = REACH * size_of(mesh);
  kedge_locator *locator;
  lost l = {0};
  KG_TRY(kg_locator_create(ctx, mesh, reach, &locator));
  kedge_status status = kg_locator_find(locator, n, x, element, at);
  if (status == KEDGE_OK) {
    for (int64_t i = 0; i < n; ++i)
      if (element[i] >= 0) settle(mesh, element[i], at + mesh->dimension * i);
    status = lost_create(ctx, mesh->dimension, n, x, element, &l);
  }
  if (status == KEDGE_OK && l.n > 0) status = find_near(locator, mesh, reach, &l, element, at);
  lost_free(&l);
  kedge_locator_destroy(locator);
  return status;
}

// The elements that hold points, and those that hold points next to them.
#include "solution/find_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "solution/locator.h"
#include "solution/values.h"

/// How far outside of the mesh a point counts as inside, of the size of the mesh.
#define REACH 1e-9

static double size_of(const kedge_mesh *mesh)
{
  const double *const box = mesh->info.box;
  return fmax(box[2] - box[0], box[3] - box[1]);
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

/// The distance of a point from a place of an element.
static double distance(const kedge_mesh *mesh, int32_t element, const double at[2], double x,
                       double y)
{
  double xs[KG_NODES_MAX], ys[KG_NODES_MAX];
  long double map[3 * KG_NODES_MAX], there[2] = {0};
  const int n = kg_nodes_of(mesh, element, xs, ys);
  kg_block_of(mesh, element)->cell->map(mesh->geometry, (const long double[]){at[0], at[1]}, map);
  for (int l = 0; l < n; ++l) {
    there[0] += map[l] * xs[l];
    there[1] += map[l] * ys[l];
  }
  return (double)hypotl(x - there[0], y - there[1]);
}

/// Bring what has been found of a point onto its element.
/// @param[in,out] at  as kg_locator_find() gives it; as kg_points_find() does
static void settle(const kedge_mesh *mesh, int32_t element, double at[2])
{
  clamp(kg_block_of(mesh, element)->cell == &kg_triangle, at);
  for (int d = 0; d < 2; ++d) at[d] = 2.0 * at[d] - 1.0;
}

/// Points that are in no element.
typedef struct lost {
  int64_t n, *point;  ///< [n]
  double *x, *y, *place;
  int32_t *element;
} lost;

static void lost_free(lost *l)
{
  free(l->point);
  free(l->x);
  free(l->y);
  free(l->place);
  free(l->element);
}

static kedge_status lost_create(kedge_context *ctx, int64_t n, const double *x, const double *y,
                                const int32_t *element, lost *l)
{
  size_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += element[i] < 0;
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->point, &l->point));
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->x, &l->x));
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->y, &l->y));
  KG_TRY(kg_host_alloc(ctx, count, 2 * sizeof *l->place, &l->place));
  KG_TRY(kg_host_alloc(ctx, count, sizeof *l->element, &l->element));
  for (int64_t i = 0; i < n; ++i) {
    if (element[i] >= 0) continue;
    l->x[l->n] = x[i];
    l->y[l->n] = y[i];
    l->point[l->n++] = i;
  }
  return KEDGE_OK;
}

/// Look for elements near points that are lost.
static kedge_status find_near(kedge_locator *locator, const kedge_mesh *mesh, double reach, lost *l,
                              int32_t *element, double *at)
{
  KG_TRY(kg_locator_reach_out(locator));
  KG_TRY(kg_locator_find(locator, l->n, l->x, l->y, l->element, l->place));
  for (int64_t k = 0; k < l->n; ++k) {
    double *const place = l->place + 2 * k;
    const int32_t found = l->element[k];
    if (found < 0) continue;
    settle(mesh, found, place);
    if (!(distance(mesh, found, place, l->x[k], l->y[k]) <= reach)) continue;
    element[l->point[k]] = found;
    for (int d = 0; d < 2; ++d) at[2 * l->point[k] + d] = place[d];
  }
  return KEDGE_OK;
}

kedge_status kg_points_find(kedge_context *ctx, const kedge_mesh *mesh, int64_t n, const double *x,
                            const double *y, int32_t *element, double *at)
{
  const double reach = REACH * size_of(mesh);
  kedge_locator *locator;
  lost l = {0};
  KG_TRY(kg_locator_create(ctx, mesh, reach, &locator));
  kedge_status status = kg_locator_find(locator, n, x, y, element, at);
  if (status == KEDGE_OK) {
    for (int64_t i = 0; i < n; ++i)
      if (element[i] >= 0) settle(mesh, element[i], at + 2 * i);
    status = lost_create(ctx, n, x, y, element, &l);
  }
  if (status == KEDGE_OK && l.n > 0) status = find_near(locator, mesh, reach, &l, element, at);
  lost_free(&l);
  kedge_locator_destroy(locator);
  return status;
}

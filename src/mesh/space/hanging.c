// Hanging nodes in space: where one face lies on several others, as only one side was split, sides
// do not match, and all of them would pass for boundary. At a vertex that they share two of them
// lie in one plane, with their elements on both sides of it, and overlap.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "mesh/build.h"

/// The sine of an angle that is none: a mesh file may round coordinates to seven digits.
#define NO_ANGLE 1e-6

/// A face of the boundary as one of its vertices sees it.
typedef struct corner {
  int32_t vertex, facet;
} corner;

/// A face at one of its vertices: unit vectors along its sides and out of its element.
typedef struct sector {
  double side[2][3], normal[3];
  bool is_thin;  ///< its element lies in the face's plane, to rounding
} sector;

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = a[i] * b[j] - a[j] * b[i];
  }
}

static void unite(double a[3])
{
  const double length = hypot(hypot(a[0], a[1]), a[2]);
  for (int k = 0; k < 3; ++k) a[k] /= length;
}

static const double *place_of(const kedge_mesh *mesh, int32_t vertex)
{
  return mesh->vertices + 3 * (int64_t)vertex;
}

static void toward(const double *from, const double *to, double out[3])
{
  for (int k = 0; k < 3; ++k) out[k] = to[k] - from[k];
  unite(out);
}

static sector sector_of(const kedge_mesh *mesh, const corner *c)
{
  const kg_side side = mesh->edge_sides[2 * (int64_t)c->facet];
  const int32_t *const v = kg_element_vertices(mesh, kg_side_element(side));
  const double *const from = place_of(mesh, c->vertex);
  sector s;
  double inward[3];
  for (int l = 0, n = 0; l < 4; ++l)
    if (l != kg_side_facet(side) && v[l] != c->vertex)
      toward(from, place_of(mesh, v[l]), s.side[n++]);
  toward(from, place_of(mesh, v[kg_side_facet(side)]), inward);
  cross(s.side[0], s.side[1], s.normal);
  unite(s.normal);
  const double height = dot(s.normal, inward);
  s.is_thin = fabs(height) <= NO_ANGLE;
  for (int k = 0; height > 0.0 && k < 3; ++k) s.normal[k] = -s.normal[k];
  return s;
}

/// Whether a direction in a sector's plane lies between its sides.
static bool is_between(const sector *s, const double d[3])
{
  double whole[3], first[3], second[3];
  cross(s->side[0], s->side[1], whole);
  cross(d, s->side[1], first);
  cross(s->side[0], d, second);
  const double square = dot(whole, whole);
  return dot(first, whole) > NO_ANGLE * square && dot(second, whole) > NO_ANGLE * square;
}

static bool overlap(const sector *a, const sector *b)
{
  double middle[3];
  for (int k = 0; k < 3; ++k) middle[k] = a->side[0][k] + a->side[1][k];
  bool any = is_between(b, middle);
  for (int i = 0; i < 2; ++i) any = any || is_between(a, b->side[i]) || is_between(b, a->side[i]);
  return any;
}

/// Whether two faces have the same corners, to rounding: the banks of a slit.
static bool are_banks(const kedge_mesh *mesh, int32_t facet, int32_t other)
{
  const int32_t facets[2] = {facet, other};
  const double *at[2][3];
  for (int i = 0; i < 2; ++i) {
    const kg_side side = mesh->edge_sides[2 * (int64_t)facets[i]];
    const int32_t *const v = kg_element_vertices(mesh, kg_side_element(side));
    for (int l = 0, n = 0; l < 4; ++l)
      if (l != kg_side_facet(side)) at[i][n++] = place_of(mesh, v[l]);
  }
  double size = 0.0;
  for (int k = 0; k < 3; ++k) size = fmax(size, fabs(at[0][1][k] - at[0][0][k]));
  for (int i = 0; i < 3; ++i) {
    bool found = false;
    for (int j = 0; j < 3; ++j) {
      double far = 0.0;
      for (int k = 0; k < 3; ++k) far = fmax(far, fabs(at[0][i][k] - at[1][j][k]));
      found = found || far <= NO_ANGLE * size;
    }
    if (!found) return false;
  }
  return true;
}

/// Whether two faces lie on each other: their elements are on both sides of one plane.
static bool lie_on_each_other(const sector *a, const sector *b)
{
  double across[3];
  cross(a->normal, b->normal, across);
  return dot(a->normal, b->normal) < 0.0 && dot(across, across) <= NO_ANGLE * NO_ANGLE &&
         !a->is_thin && !b->is_thin && overlap(a, b);
}

static kedge_status refuse(const kg_mesh_builder *b, const corner *p, const corner *q)
{
  const kedge_mesh *mesh = b->mesh;
  const double *const at = place_of(mesh, p->vertex);
  char text[KG_ELEMENT_TEXT], other[KG_ELEMENT_TEXT];
  const int32_t e = kg_side_element(mesh->edge_sides[2 * (int64_t)p->facet]);
  const int32_t f = kg_side_element(mesh->edge_sides[2 * (int64_t)q->facet]);
  kg_build_describe(b, mesh->element_origin[e], text);
  kg_build_describe(b, mesh->element_origin[f], other);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: at (%.9g, %.9g, %.9g) faces of %s and of %s lie on each other, and do not "
                 "have the same corners (hanging nodes); mesh both sides together, or, if both are "
                 "boundary, give their faces a physical group",
                 b->source, at[0], at[1], at[2], text, other);
}

static int compare_corners(const void *a, const void *b)
{
  const corner *p = a, *q = b;
  if (p->vertex != q->vertex) return p->vertex < q->vertex ? -1 : 1;
  return (p->facet > q->facet) - (p->facet < q->facet);
}

/// Faces at a vertex that are compared with one of them, so that no input takes quadratic time.
enum { MOST = 500 };

static bool find(const kedge_mesh *mesh, size_t n, const corner *corners, const corner **first,
                 const corner **second)
{
  for (size_t i = 0; i < n; ++i) {
    const sector here = sector_of(mesh, &corners[i]);
    for (size_t k = i + 1; k < n && k < i + MOST && corners[k].vertex == corners[i].vertex; ++k) {
      const sector there = sector_of(mesh, &corners[k]);
      if (!lie_on_each_other(&here, &there)) continue;
      *first = &corners[i];
      *second = &corners[k];
      if (!are_banks(mesh, corners[i].facet, corners[k].facet)) return true;
    }
  }
  return false;
}

kedge_status kg_space_hanging(kg_mesh_builder *b)
{
  const kedge_mesh *mesh = b->mesh;
  size_t n = 0;
  corner *corners;
  KG_TRY(kg_host_alloc(b->ctx, 3 * (size_t)mesh->n_boundary_edges, sizeof *corners, &corners));
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i) {
    const int32_t facet = mesh->group_edges[i];
    if (mesh->groups[mesh->edge_group[facet]].tag != 0) continue;
    const kg_side side = mesh->edge_sides[2 * (int64_t)facet];
    const int32_t *const v = kg_element_vertices(mesh, kg_side_element(side));
    for (int l = 0; l < 4; ++l)
      if (l != kg_side_facet(side)) corners[n++] = (corner){v[l], facet};
  }
  qsort(corners, n, sizeof *corners, compare_corners);
  const corner *first, *second;
  const bool found = find(mesh, n, corners, &first, &second);
  const kedge_status status = found ? refuse(b, first, second) : KEDGE_OK;
  free(corners);
  return status;
}

// Boundary faces that coincide: all three corners at the same places, within rounding, and no
// common vertices. Nothing passes there, as where vertices are there twice; with both elements on
// one side of them volume counts twice.
//
// Faces are cut into clusters of near middles, along x, y and z in turn, until no cluster falls
// apart: those that are left have a pair or two.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/build.h"

// Places are one within this part of the shortest edge of the faces, or within what six digits
// leave of coordinates, but no more than that of the edge: as in the plane (touch/touch.c).
#define SAME_PLACE      1e-6
#define SIX_DIGITS      1.2e-6
#define SIX_DIGITS_MOST 1e-3

enum { PAIRS_MOST = 64 };  ///< faces behind one that it is compared with; one or two in a mesh

typedef struct face {
  int32_t facet, element;
  double middle[3], corner[3][3], same;  ///< the last: how far one place reaches
  int32_t other;                         ///< of the faces; -1: it coincides with none
} face;

static double distance(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

static face face_of(const kedge_mesh *mesh, int32_t facet)
{
  const kg_side side = mesh->edge_sides[2 * (int64_t)facet];
  face f = {.facet = facet, .element = kg_side_element(side), .other = -1};
  int32_t v[3];
  double size = 0.0, shortest = INFINITY;
  kg_side_corners(mesh, side, v);
  for (int l = 0; l < 3; ++l)
    for (int k = 0; k < 3; ++k) {
      f.corner[l][k] = mesh->vertices[3 * (int64_t)v[l] + k];
      f.middle[k] += f.corner[l][k] / 3.0;
      size = fmax(size, fabs(f.corner[l][k]));
    }
  for (int l = 0; l < 3; ++l)
    shortest = fmin(shortest, distance(f.corner[l], f.corner[(l + 1) % 3]));
  f.same = fmax(SAME_PLACE * shortest, fmin(SIX_DIGITS * size, SIX_DIGITS_MOST * shortest));
  return f;
}

static int compare(const face *a, const face *b, int axis)
{
  const double x = a->middle[axis], y = b->middle[axis];
  return x != y ? (x > y) - (x < y) : (a->facet > b->facet) - (a->facet < b->facet);
}

static int compare_x(const void *a, const void *b)
{
  return compare(a, b, 0);
}

static int compare_y(const void *a, const void *b)
{
  return compare(a, b, 1);
}

static int compare_z(const void *a, const void *b)
{
  return compare(a, b, 2);
}

static bool coincide(const face *a, const face *b)
{
  const double same = fmin(a->same, b->same);
  bool all = a->element != b->element;
  for (int l = 0; l < 3 && all; ++l) {
    double near = INFINITY;
    for (int k = 0; k < 3; ++k) near = fmin(near, distance(a->corner[l], b->corner[k]));
    all = near <= same;
  }
  return all;
}

/// Compare the faces of a cluster, sorted along some axis.
static void compare_all(face *faces, int32_t n)
{
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = i + 1; j < n && j <= i + PAIRS_MOST; ++j) {
      if (!coincide(&faces[i], &faces[j])) continue;
      if (faces[i].other < 0) faces[i].other = faces[j].facet;
      if (faces[j].other < 0) faces[j].other = faces[i].facet;
    }
}

/// Find the faces of a cluster that coincide.
/// @param[in] whole  axes along which it did not fall apart
static void find(face *faces, int32_t n, int axis, int whole)
{
  static int (*const order[3])(const void *, const void *) = {compare_x, compare_y, compare_z};
  double same = 0.0;
  for (int32_t i = 0; i < n; ++i) same = fmax(same, faces[i].same);
  if (n < 2) return;
  qsort(faces, (size_t)n, sizeof *faces, order[axis]);
  for (int32_t begin = 0, i = 1; i <= n; ++i) {
    if (i < n && faces[i].middle[axis] - faces[i - 1].middle[axis] <= same) continue;
    const bool all = i - begin == n;
    if (all && whole == 2)
      compare_all(faces, n);
    else
      find(faces + begin, i - begin, (axis + 1) % 3, all ? whole + 1 : 0);
    begin = i;
  }
}

static int compare_facets(const void *a, const void *b)
{
  const face *const f = a, *const g = b;
  return (f->facet > g->facet) - (f->facet < g->facet);
}

/// On which side of a face the element of a facet lies: its corner off the facet tells.
static bool is_above(const kedge_mesh *mesh, const face *f, int32_t facet)
{
  const kg_side side = mesh->edge_sides[2 * (int64_t)facet];
  const int32_t v = kg_element_vertices(mesh, kg_side_element(side))[kg_side_facet(side)];
  double a[3], b[3], c[3], product = 0.0;
  for (int k = 0; k < 3; ++k) {
    a[k] = f->corner[1][k] - f->corner[0][k];
    b[k] = f->corner[2][k] - f->corner[0][k];
    c[k] = mesh->vertices[3 * (int64_t)v + k] - f->corner[0][k];
  }
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    product += (a[l] * b[m] - a[m] * b[l]) * c[k];
  }
  return product > 0.0;
}

/// Count the faces that coincide or overlap, and store their places in the mesh.
/// @param[in] faces  ascending
static kedge_status take(kg_mesh_builder *b, const face *faces, int32_t n)
{
  kedge_mesh *const mesh = b->mesh;
  kedge_mesh_info *const info = &mesh->info;
  int32_t *part = NULL, n_parts, n_found = 0;
  for (int32_t i = 0; i < n; ++i) n_found += faces[i].other >= 0;
  if (n_found == 0) return KEDGE_OK;
  if (info->parts > 1) KG_TRY(kg_mesh_parts(b->ctx, mesh, &part, &n_parts));
  const kedge_status status =
      kg_host_alloc(b->ctx, (size_t)n_found, sizeof *mesh->touches, &mesh->touches);
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) {
    const face *const f = &faces[i];
    if (f->other < 0) continue;
    const double *const at = f->middle;
    if (is_above(mesh, f, f->facet) == is_above(mesh, f, f->other)) {
      if (info->overlapping_edges++ > 0) continue;
      memcpy(info->overlapping_at, at, sizeof info->overlapping_at);
      info->overlapping_z = at[2];
      continue;
    }
    if (mesh->n_touches == 0) {
      memcpy(info->coincident_at, at, sizeof info->coincident_at);
      info->coincident_z = at[2];
    }
    const int32_t other = kg_side_element(mesh->edge_sides[2 * (int64_t)f->other]);
    const bool apart = part && part[f->element] != part[other];
    mesh->touches[mesh->n_touches++] = (kg_touch){f->facet, f->other, apart, {at[0], at[1], at[2]}};
    ++mesh->groups[mesh->edge_group[f->facet]].coincident;
  }
  free(part);
  info->coincident_edges = mesh->n_touches;
  return status;
}

kedge_status kg_space_touch(kg_mesh_builder *b)
{
  const kedge_mesh *const mesh = b->mesh;
  const int32_t n = mesh->n_boundary_edges;
  face *faces;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof *faces, &faces));
  for (int32_t i = 0; i < n; ++i) faces[i] = face_of(mesh, mesh->group_edges[i]);
  find(faces, n, 0, 0);
  qsort(faces, (size_t)n, sizeof *faces, compare_facets);
  const kedge_status status = take(b, faces, n);
  free(faces);
  return status;
}

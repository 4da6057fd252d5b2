// Volumes, areas and shapes of tetrahedra.
#include <math.h>

#include "mesh/build.h"

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = a[i] * b[j] - a[j] * b[i];
  }
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void edge_of(const double *p, const double *q, double scale, double out[3])
{
  for (int k = 0; k < 3; ++k) out[k] = (q[k] - p[k]) * scale;
}

/// The largest difference of two corners in one coordinate.
static double extent_of(const double *const p[4])
{
  double extent = 0.0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j) extent = fmax(extent, fabs(p[i][k] - p[j][k]));
  return extent;
}

/// Six times the signed volume, of coordinates times `scale`.
static double determinant(const double *const p[4], double scale)
{
  double a[3], b[3], c[3], normal[3];
  edge_of(p[0], p[1], scale, a);
  edge_of(p[0], p[2], scale, b);
  edge_of(p[0], p[3], scale, c);
  cross(a, b, normal);
  return dot(normal, c);
}

kg_fault kg_space_examine(const kg_raw_mesh *raw, const int32_t *v)
{
  const double *p[4];
  for (int i = 0; i < 4; ++i) {
    if (v[i] < 0 || v[i] >= raw->n_vertices) return KG_BAD_NUMBER;
    for (int k = 0; k < i; ++k)
      if (v[k] == v[i]) return KG_REPEATED;
    p[i] = raw->vertices + 3 * (int64_t)v[i];
  }
  const double extent = extent_of(p);
  if (!(extent > 0.0)) return KG_FLAT;
  // Over the extent, so that the share does not depend on the size; the volume itself is zero where
  // lengths are so small that their product is.
  const bool sound = fabs(determinant(p, 1.0 / extent)) > KG_FLATNESS && determinant(p, 1.0) != 0.0;
  return sound ? KG_SOUND : KG_FLAT;
}

double kg_space_determinant(const double *vertices, const int32_t *v)
{
  const double *p[4];
  for (int i = 0; i < 4; ++i) p[i] = vertices + 3 * (int64_t)v[i];
  const double extent = extent_of(p);
  return extent > 0.0 ? determinant(p, 1.0 / extent) : 0.0;
}

static void corners_of(const kedge_mesh *mesh, int32_t element, const double *p[4])
{
  const int32_t *v = kg_element_vertices(mesh, element);
  for (int i = 0; i < 4; ++i) p[i] = mesh->vertices + 3 * (int64_t)v[i];
}

double kg_space_volume(const kedge_mesh *mesh, int32_t element)
{
  const double *p[4];
  corners_of(mesh, element, p);
  return fabs(determinant(p, 1.0)) / 6.0;
}

double kg_space_area(const kedge_mesh *mesh, int32_t facet)
{
  int32_t v[3];
  double a[3], b[3], normal[3];
  kg_side_corners(mesh, mesh->edge_sides[2 * (int64_t)facet], v);
  const double *const p = mesh->vertices + 3 * (int64_t)v[0];
  edge_of(p, mesh->vertices + 3 * (int64_t)v[1], 1.0, a);
  edge_of(p, mesh->vertices + 3 * (int64_t)v[2], 1.0, b);
  cross(a, b, normal);
  return 0.5 * sqrt(dot(normal, normal));
}

bool kg_space_is_above(const kedge_mesh *mesh, kg_side side)
{
  const double *p[4];
  int32_t v[3];
  kg_side_corners(mesh, side, v);
  for (int i = 0; i < 3; ++i) p[i] = mesh->vertices + 3 * (int64_t)v[i];
  const int32_t *const corner = kg_element_vertices(mesh, kg_side_element(side));
  p[3] = mesh->vertices + 3 * (int64_t)corner[kg_side_facet(side)];
  return determinant(p, 1.0 / extent_of(p)) > 0.0;
}

static void exchange(int32_t *a, int32_t *b)
{
  const int32_t kept = *a;
  *a = *b;
  *b = kept;
}

void kg_space_turn_outward(const kedge_mesh *mesh, kg_raw_mesh *raw)
{
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    int32_t *const v = raw->corners + 4 * e;
    if (kg_space_determinant(raw->vertices, v) < 0.0) exchange(&v[2], &v[3]);
  }
  int32_t *v = raw->lines;
  for (int64_t facet = 0; facet < mesh->n_edges; ++facet) {
    if (kg_group_of_edge(mesh->edge_group[facet]) < 0) continue;
    if (kg_space_is_above(mesh, mesh->edge_sides[2 * facet])) exchange(&v[1], &v[2]);
    v += 3;
  }
}

kg_space_shape kg_space_shape_of(const kedge_mesh *mesh, int32_t element)
{
  // Facet l is opposite corner l; its normal points inwards where the first three edges are a
  // right-handed system, else all four point outwards.
  static const int facet[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
  const double *p[4];
  double normal[4][3], areas = 0.0, cotangent = -INFINITY, a[3], b[3], rim[3] = {0.0, 0.0, 0.0};
  corners_of(mesh, element, p);
  const double scale = 1.0 / extent_of(p), six_volumes = fabs(determinant(p, scale));
  for (int l = 0; l < 4; ++l) {
    edge_of(p[facet[l][0]], p[facet[l][1]], scale, a);
    edge_of(p[facet[l][0]], p[facet[l][2]], scale, b);
    cross(a, b, normal[l]);
    areas += 0.5 * sqrt(dot(normal[l], normal[l]));
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) {
      cross(normal[i], normal[j], a);
      cotangent = fmax(cotangent, -dot(normal[i], normal[j]) / sqrt(dot(a, a)));
    }
  // The centre of the sphere through the corners is, from corner 0, the sum of |d_i|^2 (d_j x d_k)
  // over 12 volumes, with d_i the edge to corner i; these products are normals of facets.
  for (int l = 1; l < 4; ++l) {
    edge_of(p[0], p[l], scale, a);
    for (int k = 0; k < 3; ++k) rim[k] += dot(a, a) * normal[l][k];
  }
  const double outer = sqrt(dot(rim, rim)) / (2.0 * six_volumes);
  const double inner = 0.5 * six_volumes / areas;
  return (kg_space_shape){3.0 * inner / outer, cotangent};
}

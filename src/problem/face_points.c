#include "problem/face_points.h"

#include <math.h>

#include "problem/located.h"

void kg_face_rule_make(int rows, kg_face_rule *rule)
{
  long double at[2][KG_FACE_POINTS], weight[KG_FACE_POINTS], place[3];
  rule->n = rows * rows;
  kg_triangle.rule(rows, (long double *const[]){at[0], at[1]}, weight);
  for (int q = 0; q < rule->n; ++q) {
    const long double on[2] = {at[0][q], at[1][q]};
    rule->weight[q] = (double)weight[q];
    for (int k = 0; k < 2; ++k) rule->on[k][q] = (double)on[k];
    for (int l = 0; l < 4; ++l) {
      kg_cell_on_facet(&kg_tetrahedron, l, on, place);
      for (int k = 0; k < 3; ++k) rule->place[l][q][k] = (double)place[k];
    }
  }
}

double kg_face_normal(const kedge_mesh *mesh, kg_side side, double normal[3])
{
  const int l = kg_side_facet(side), *const c = kg_tetrahedron.facet_corner[l];
  const int32_t *const v = kg_element_vertices(mesh, kg_side_element(side));
  double corner[4][3];
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) corner[i][k] = mesh->vertices[3 * (int64_t)v[i] + k];
  double a[3], b[3], inward = 0.0;
  for (int k = 0; k < 3; ++k) {
    a[k] = corner[c[1]][k] - corner[c[0]][k];
    b[k] = corner[c[2]][k] - corner[c[0]][k];
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    inward += normal[k] * (corner[l][k] - corner[c[0]][k]);
  }
  const double length = hypot(hypot(normal[0], normal[1]), normal[2]);
  for (int k = 0; k < 3; ++k) normal[k] *= (inward > 0.0 ? -1.0 : 1.0) / length;
  return 0.25 * length;  // the area is length / 2, that of the reference face 2
}

kedge_points kg_face_points(const kedge_mesh *mesh, const kg_face_rule *rule, kg_side side,
                            kg_face *f)
{
  return kg_face_points_at(mesh, rule->n, rule->place[kg_side_facet(side)], side, f);
}

kedge_points kg_face_points_at(const kedge_mesh *mesh, int n, const double (*place)[3],
                               kg_side side, kg_face *f)
{
  const int32_t element = kg_side_element(side);
  const kg_located at = kg_located_in(f->located, KG_FACE_POINTS);
  double normal[3], x[3];
  f->jacobian = kg_face_normal(mesh, side, normal);
  for (int q = 0; q < n; ++q) {
    kg_tetrahedron_point(mesh, element, place[q], x);
    for (int k = 0; k < 3; ++k) {
      f->x[k][q] = x[k];
      f->normal[k][q] = normal[k];
    }
    kg_locate_at(&at, (size_t)q, mesh, element, place[q]);
  }
  kedge_points points = kg_located_points(&at, mesh, (size_t)n, f->x[0], f->x[1]);
  points.z = f->x[2];
  points.normal_x = f->normal[0];
  points.normal_y = f->normal[1];
  points.normal_z = f->normal[2];
  return points;
}

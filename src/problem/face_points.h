/// @file
/// Points on the faces of tetrahedra, where data of boundaries are evaluated.
#pragma once
#include "kedge/problem.h"
#include "problem/problem.h"

enum { KG_FACE_POINTS = KG_QUADRATURE_MAX * KG_QUADRATURE_MAX };

/// A rule of the reference face.
typedef struct kg_face_rule {
  int n;
  double weight[KG_FACE_POINTS];
  double on[2][KG_FACE_POINTS];        ///< in the reference triangle
  double place[4][KG_FACE_POINTS][3];  ///< [facet][point]: in the reference tetrahedron
} kg_face_rule;

/// What is known of a face at these points.
typedef struct kg_face {
  double x[3][KG_FACE_POINTS], normal[3][KG_FACE_POINTS], located[5 * KG_FACE_POINTS];
  double jacobian;  ///< area over that of the reference face
} kg_face;

/// The outward normal of a side of a tetrahedron. @return its area over that of the reference face
double kg_face_normal(const kedge_mesh *mesh, kg_side side, double normal[3]);
void kg_face_rule_make(int rows, kg_face_rule *rule);
/// Fill a face at n points, at most KG_FACE_POINTS. @param[in] place  in the reference tetrahedron
/// @return points of it, which point into `face`
kedge_points kg_face_points_at(const kedge_mesh *mesh, int n, const double (*place)[3],
                               kg_side side, kg_face *face);
/// Fill a face at the points of a rule.
kedge_points kg_face_points(const kedge_mesh *mesh, const kg_face_rule *rule, kg_side side,
                            kg_face *face);

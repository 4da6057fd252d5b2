/// @file
/// Straight tetrahedra: what operators read of a range of them, and the
/// factors that one contributes to its local matrices beside the reference matrices. One source for
/// host and GPU.
#pragma once
#include <math.h>

#include "basis/tetrahedron_points.h"
#include "ops/local/triangle/element.h"
#include "ops/ops.h"

/// A range of whole groups. All arrays of the range, here and in the arguments of operators, begin
/// at its first group. Lanes behind the last element are not read.
typedef struct kg_tetrahedra {
  kg_tetrahedron_reference reference;
  kg_tetrahedron_points points;  ///< where coefficients have values; none where they are constant
  int32_t n_elements;
  const double *vertices;  ///< [vertex][3]
  /// [group][4][lane]: in the mesh's order of vertices, which both elements of a facet share, so
  /// that the map may turn the element inside out
  const int32_t *vertex;
  /// [group][4][lane]: trace facet << 1 of the facet opposite each vertex; read where the trace is
  const uint32_t *side_edge;
} kg_tetrahedra;

KG_INLINE int32_t kg_tetrahedra_groups(const kg_tetrahedra *cells)
{
  return (cells->n_elements + KG_LANES - 1) / KG_LANES;
}

/// Groups first_group, first_group + 1, ... of a range, n_groups or as many as there are, as a
/// range of its own.
KG_INLINE kg_tetrahedra kg_tetrahedra_part(const kg_tetrahedra *cells, int32_t first_group,
                                           int32_t n_groups)
{
  const int64_t sides = (int64_t)first_group * 4 * KG_LANES;
  const int32_t left = cells->n_elements - first_group * KG_LANES, all = n_groups * KG_LANES;
  kg_tetrahedra part = *cells;
  part.n_elements = left < all ? left : all;
  part.vertex += sides;
  if (part.side_edge) part.side_edge += sides;
  return part;
}

/// |det dx/dr| of an element.
KG_INLINE double kg_space_jacobian(const kg_tetrahedra *of, int32_t e)
{
  double d[3][3];
  const int64_t origin = of->vertex[kg_lane_side(4, e, 0)];
  for (int a = 0; a < 3; ++a) {
    const int64_t corner = of->vertex[kg_lane_side(4, e, a + 1)];
    for (int k = 0; k < 3; ++k)
      d[a][k] = 0.5 * (of->vertices[3 * corner + k] - of->vertices[3 * origin + k]);
  }
  return fabs(d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
              d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
              d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]));
}

/// The equation and its stabilization in one element.
typedef struct kg_space_material {
  double diffusion[KG_SPACE_PAIRS];  ///< xx, xy, xz, yy, yz, zz; positive definite
  double reaction, stabilization;
  kedge_scaling scaling;  ///< of the stabilization with the root of twice a facet's area
  /// The stabilization of a facet is that times n . K n, and has no other scaling.
  bool by_normal;
} kg_space_material;

/// What a material whose diffusion is a number is in space.
KG_INLINE kg_space_material kg_space_material_of(kg_material m)
{
  const double k = m.diffusion;
  const kg_space_material out = {
      {k, 0.0, 0.0, k, 0.0, k}, m.reaction, m.stabilization, m.scaling, false};
  return out;
}

/// The materials of a range of tetrahedra, as kg_materials.
typedef struct kg_space_materials {
  kg_space_material one;           ///< read where there is no index
  const kg_space_material *table;  ///< in device memory
  const int32_t *index;            ///< [group of the range][lane]; NULL: all elements have the one
  /// [group of the range][function][point][lane]: diffusion and reaction at the points of the
  /// tetrahedra, in place of those of `one`, which has the stabilization; NULL: they are constant
  const double *values;
} kg_space_materials;

enum { KG_SPACE_FUNCTIONS = KG_SPACE_PAIRS + 1 };  ///< of `values`

KG_INLINE const kg_space_material *kg_space_material_at(const kg_space_materials *materials,
                                                        int32_t e)
{
  return materials->index ? &materials->table[materials->index[e]] : &materials->one;
}

/// With g_a = grad r_a, n_l the outward normal and A_l the area of facet l, K the diffusion:
///   Z^-1  = mass I + sum_p stiffness[p] S_p + sum_l tau[l] F_l F_l^T
///   R_l   = tau[l] F_l + sum_a lift[l][a] D_a F_l
///   S0_lk = trace[l,k] F_l^T F_k + delta_lk tau[l] I
///   q     = sum_l normal[l] F_l x_l - sum_a grad[a] D_a^T u
///   sum_p stiffness[p] S*_p u* = J sum_a (d_a w, q . turned[a])
/// S_p and S*_p are the reference's `stiffness` and `star`. All members are doubles.
typedef struct kg_tetrahedron_factors {
  double jacobian;                   ///< J = |det| of the map from the reference element
  double mass;                       ///< reaction * J
  double grad[3][3];                 ///< g_a
  double turned[3][3];               ///< K g_a
  double normal[4][3];               ///< A_l n_l / (2 J)
  double stiffness[KG_SPACE_PAIRS];  ///< J g_a . K g_b
  double tau[4];                     ///< stabilization * A_l / 2
  double lift[4][3];                 ///< A_l / 2 n_l . K g_a
  double trace[10];                  ///< packed lower 4 x 4: n_l . K n_k A_l A_k / (4 J)
} kg_tetrahedron_factors;

KG_INLINE double kg_space_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

KG_INLINE void kg_space_cross(const double a[3], const double b[3], double c[3])
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/// K v.
KG_INLINE void kg_space_turn(const double k[KG_SPACE_PAIRS], const double v[3], double out[3])
{
  out[0] = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];
  out[1] = k[1] * v[0] + k[3] * v[1] + k[4] * v[2];
  out[2] = k[2] * v[0] + k[4] * v[1] + k[5] * v[2];
}

/// J, the gradients and from these the normals, so that they fit each other to rounding: without a
/// reaction K^e times constants is zero because they do.
KG_INLINE void kg_tetrahedron_geometry(double x[4][3], kg_tetrahedron_factors *t)
{
  double side[3][3];
  for (int a = 0; a < 3; ++a)
    for (int k = 0; k < 3; ++k) side[a][k] = x[a + 1][k] - x[0][k];
  for (int a = 0; a < 3; ++a) kg_space_cross(side[(a + 1) % 3], side[(a + 2) % 3], t->grad[a]);
  const double det = kg_space_dot(side[0], t->grad[0]), per_det = 1.0 / det;
  t->jacobian = 0.125 * fabs(det);
  for (int k = 0; k < 3; ++k) {
    t->normal[0][k] = 0.0;
    for (int a = 0; a < 3; ++a) {
      t->grad[a][k] *= 2.0 * per_det;
      t->normal[a + 1][k] = -t->grad[a][k];
      t->normal[0][k] += t->grad[a][k];
    }
  }
}

/// The element with vertices x.
KG_INLINE void kg_tetrahedron_factors_of(double x[4][3], const kg_space_material *material,
                                         kg_tetrahedron_factors *t)
{
  kg_tetrahedron_geometry(x, t);
  double turned[3];
  t->mass = material->reaction * t->jacobian;
  for (int a = 0, p = 0; a < 3; ++a) {
    kg_space_turn(material->diffusion, t->grad[a], t->turned[a]);
    for (int b = a; b < 3; ++b, ++p)
      t->stiffness[p] = t->jacobian * kg_space_dot(t->turned[a], t->grad[b]);
  }
  for (int l = 0; l < 4; ++l) {
    // tau A_l / 2, where kg_tau_scale() gives tau times a length, the root of `square`.
    const double half_area = t->jacobian * sqrt(kg_space_dot(t->normal[l], t->normal[l]));
    const double square = 4.0 * half_area, root = sqrt(square);
    kg_space_turn(material->diffusion, t->normal[l], turned);
    t->tau[l] = material->stabilization *
                (material->by_normal
                     // normal[l] is n A_l / (2 J), half_area its length times J
                     ? kg_space_dot(turned, t->normal[l]) * t->jacobian * t->jacobian / half_area
                     : kg_tau_scale(material->scaling, square) / root * half_area);
    for (int a = 0; a < 3; ++a) t->lift[l][a] = t->jacobian * kg_space_dot(turned, t->grad[a]);
    for (int k = 0; k <= l; ++k)
      t->trace[l * (l + 1) / 2 + k] = t->jacobian * kg_space_dot(turned, t->normal[k]);
  }
}

/// The factors of element e of a range.
KG_INLINE void kg_tetrahedron_factors_with(const kg_tetrahedra *cells,
                                           const kg_space_material *material, int32_t e,
                                           kg_tetrahedron_factors *t)
{
  double x[4][3];
  for (int v = 0; v < 4; ++v) {
    const int64_t vertex = cells->vertex[kg_lane_side(4, e, v)];
    for (int k = 0; k < 3; ++k) x[v][k] = cells->vertices[3 * vertex + k];
  }
  kg_tetrahedron_factors_of(x, material, t);
}

KG_INLINE void kg_tetrahedron_factors_at(const kg_tetrahedra *cells,
                                         const kg_space_materials *materials, int32_t e,
                                         kg_tetrahedron_factors *t)
{
  kg_tetrahedron_factors_with(cells, kg_space_material_at(materials, e), e, t);
}

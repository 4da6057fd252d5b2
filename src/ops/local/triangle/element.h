/// @file
/// Factors that an affine triangle contributes to its local matrices beside the reference matrices
/// (docs/math.md#affine-elements): about twenty numbers from three vertices. One source for host
/// and GPU.
#pragma once
#include <math.h>

#include "basis/reference.h"
#include "kedge/problem.h"
#include "space/trace_layout.h"
#include "core/inline.h"

/// The equation and its stabilization where they are constant.
typedef struct kg_material {
  double diffusion, reaction, stabilization;
  kedge_scaling scaling;  ///< of the stabilization with the edge length
  /// The diffusion is the tensor diffusion C C^T, C = [root[0], root[1]; 0, root[2]] of
  /// determinant 1; else the number alone, and `root` is not read.
  bool is_tensor;
  /// The stabilization of an edge is that times n . C C^T n, and has no other scaling.
  bool by_normal;
  double root[3];
} kg_material;

/// The materials of a range of elements: one, or a table and where in it that of an element is.
typedef struct kg_materials {
  kg_material one;           ///< read where there is no index
  const kg_material *table;  ///< in device memory
  const int32_t *index;      ///< [group of the range][lane]; NULL: all elements have the one
} kg_materials;

KG_INLINE kg_materials kg_one_material(kg_material material)
{
  const kg_materials one = {material, NULL, NULL};
  return one;
}

KG_INLINE kg_material kg_material_at(const kg_materials *materials, int64_t group, int lane)
{
  return materials->index ? materials->table[materials->index[group * KG_LANES + lane]]
                          : materials->one;
}

/// Whether all elements have one diffusion, which is a number.
KG_INLINE bool kg_are_one_number(const kg_materials *materials)
{
  return !materials->index && !materials->one.is_tensor;
}

/// C^-1 times a tangent, in place: the change of coordinates after which diffusion is a number.
KG_INLINE void kg_turn_tangent(const double c[3], double t[2])
{
  t[0] = c[2] * t[0] - c[1] * t[1];
  t[1] = c[0] * t[1];
}

/// tau |l| by the stabilization, from the square of a length: the length cancels or is squared, but
/// for a plain number.
KG_INLINE double kg_tau_scale(kedge_scaling scaling, double square)
{
  return scaling == KEDGE_SCALING_INVERSE_H ? 1.0
         : scaling == KEDGE_SCALING_H       ? square
                                            : sqrt(square);
}

/// A material that leaves kg_element the shape of an element alone.
KG_INLINE kg_material kg_unit_material(void)
{
  const kg_material unit = {1.0, 0.0, 0.0, KEDGE_SCALING_ONE, false, false, {1.0, 0.0, 1.0}};
  return unit;
}

/// Z^-1 = mass I + sum_k stiffness[k] S_k + sum_l tau[l] E_l
/// R_l  = tau[l] F_l + lift_r[l] (Dr F)_l + lift_s[l] (Ds F)_l
/// S0   = trace[l,k] (F^T F)_lk + delta_lk tau[l] I
typedef struct kg_element {
  double jacobian;              ///< |det| of the map from the reference triangle = area / 2
  double mass;                  ///< reaction * jacobian
  double stiffness[3];          ///< jacobian * grad . diffusion grad of r, s: rr, rs, ss
  double tau[3];                ///< stabilization * length / 2 of local edge l
  double lift_r[3], lift_s[3];  ///< length / 2 * n . diffusion grad r (grad s)
  double trace[6];              ///< packed lower 3 x 3: n_l . diffusion n_k |l| |k| / (4 jacobian)
  double grad_r[2], grad_s[2];  ///< gradients of the reference coordinates
  double half_normal[3][2];     ///< outward normal * length / 2
  double tangent[2][2];         ///< along directions 1 and 2 of basis/potential.h: dx, dy
  double turned[2][2];          ///< C^-1 times the tangents, by whose products u* is found
  double turned_r[2], turned_s[2];  ///< C^T times the gradients, whose products diffusion times
                                    ///< those of the gradients are
} kg_element;

/// Gradients of the reference coordinates of a triangle, from its sides 0 and 2.
KG_INLINE void kg_element_gradients(double side[3][2], double per_det, double r[2], double s[2])
{
  r[0] = -2.0 * side[2][1] * per_det;
  r[1] = 2.0 * side[2][0] * per_det;
  s[0] = -2.0 * side[0][1] * per_det;
  s[1] = 2.0 * side[0][0] * per_det;
}

/// The element with corners x, y, counterclockwise. A tensor changes the sides to C^-1 times
/// themselves: then diffusion is a number, normals and gradients are C^T times their own, areas are
/// as before.
KG_INLINE kg_element kg_element_of(const double x[3], const double y[3], kg_material material)
{
  kg_element e;
  double side[3][2], turned[3][2], half[3][2];  // half: turned normals * length / 2
  for (int l = 0; l < 3; ++l) {
    const int next = l == 2 ? 0 : l + 1;
    turned[l][0] = side[l][0] = x[next] - x[l];
    turned[l][1] = side[l][1] = y[next] - y[l];
  }
  if (material.is_tensor)
    for (int l = 0; l < 3; ++l) kg_turn_tangent(material.root, turned[l]);
  const double det = side[0][0] * -side[2][1] - -side[2][0] * side[0][1], per_det = 1.0 / det;
  e.jacobian = 0.25 * det;
  kg_element_gradients(side, per_det, e.grad_r, e.grad_s);
  kg_element_gradients(turned, per_det, e.turned_r, e.turned_s);
  const double per_root = 0.57735026918962576451;  // 1 / sqrt(3)
  for (int k = 0; k < 2; ++k) {
    e.tangent[0][k] = 0.5 * side[0][k];
    e.tangent[1][k] = -per_root * (side[2][k] + e.tangent[0][k]);
    e.turned[0][k] = 0.5 * turned[0][k];
    e.turned[1][k] = -per_root * (turned[2][k] + e.turned[0][k]);
  }
  const double kj = material.diffusion * e.jacobian, trace = 4.0 * material.diffusion * per_det;
  e.mass = material.reaction * e.jacobian;
  e.stiffness[0] = kj * (e.turned_r[0] * e.turned_r[0] + e.turned_r[1] * e.turned_r[1]);
  e.stiffness[1] = kj * (e.turned_r[0] * e.turned_s[0] + e.turned_r[1] * e.turned_s[1]);
  e.stiffness[2] = kj * (e.turned_s[0] * e.turned_s[0] + e.turned_s[1] * e.turned_s[1]);
  for (int l = 0; l < 3; ++l) {
    const double square = side[l][0] * side[l][0] + side[l][1] * side[l][1];
    const double turned_square = turned[l][0] * turned[l][0] + turned[l][1] * turned[l][1];
    const double scale = kg_tau_scale(material.scaling, square);
    e.tau[l] = 0.5 * material.stabilization * (material.by_normal ? turned_square / scale : scale);
    e.half_normal[l][0] = 0.5 * side[l][1];
    e.half_normal[l][1] = -0.5 * side[l][0];
    half[l][0] = 0.5 * turned[l][1];
    half[l][1] = -0.5 * turned[l][0];
    e.lift_r[l] = material.diffusion * (half[l][0] * e.turned_r[0] + half[l][1] * e.turned_r[1]);
    e.lift_s[l] = material.diffusion * (half[l][0] * e.turned_s[0] + half[l][1] * e.turned_s[1]);
    for (int k = 0; k <= l; ++k)
      e.trace[l * (l + 1) / 2 + k] = trace * (half[l][0] * half[k][0] + half[l][1] * half[k][1]);
  }
  return e;
}

/// Corners of the element of a lane of a group.
KG_INLINE void kg_element_corners(const double *vertices, const int32_t *vertex, int64_t group,
                                  int lane, double x[3], double y[3])
{
  for (int l = 0; l < 3; ++l) {
    const int64_t v = vertex[(group * 3 + l) * KG_LANES + lane];
    x[l] = vertices[2 * v];
    y[l] = vertices[2 * v + 1];
  }
}

/// The element of a lane of a group. @param[in] materials  of the range that `arrays` has
KG_INLINE kg_element kg_element_at(const kg_trace_arrays *arrays, int64_t group, int lane,
                                   const kg_materials *materials)
{
  double x[3], y[3];
  kg_element_corners(arrays->vertices, arrays->vertex, group, lane, x, y);
  return kg_element_of(x, y, kg_material_at(materials, group, lane));
}

/// Sign of Legendre mode k of an edge that its element sees as `side_edge` says.
KG_INLINE double kg_side_sign(uint32_t side_edge, int k)
{
  return (side_edge & (uint32_t)k & 1u) ? -1.0 : 1.0;
}

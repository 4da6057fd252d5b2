/// @file
/// Values of a field at points anywhere: a tree of boxes over the elements finds those that may
/// hold a point, Newton's method the place in them, and polynomials by values at nodes the value.
///
/// A point has the value of the element that it is inside of; on an edge or a face, that of the
/// neighbour with the lowest number of the caller; NaN outside of all. Functions with an argument
/// `dimension` are for the plane and for space, and are compiled for one.
#pragma once
#include <float.h>
#include <math.h>

#include "ops/ops.h"
#include "ops/sample/polynomial.h"
KEDGE_BEGIN_DECLS

enum { KG_BRANCHES = 4, KG_TREE_LEVELS = 17 };

/// Boxes of the elements in the order of the mesh, along its Hilbert curve; of every four the box;
/// and so on up to one.
typedef struct kg_box_tree {
  int dimension;
  int n_levels;
  int64_t first[KG_TREE_LEVELS], count[KG_TREE_LEVELS];  ///< of a level, the elements' being 0
  const double *box;  ///< [box][2][dimension]: the least coordinates, the greatest
} kg_box_tree;

/// Elements of one shape.
typedef struct kg_located_shape {
  bool triangle;
  int geometry, n_powers;
  int32_t first, n;  ///< elements of the mesh
  /// [element of these][power][dimension], of the maps: kg_map_at(), or of tetrahedra corner 0 and
  /// the edges from there
  const double *coefficients;
  kg_nodal field;
} kg_located_shape;

typedef struct kg_locate_args {
  kg_box_tree tree;
  const double *tolerance;  ///< [element]: how far outside a point is still its own
  int n_shapes;
  kg_located_shape shape[2];
  const int32_t *origin;  ///< [element]: its number in the caller's order
  /// [element]: the quadrilaterals before it in that order; NULL: the mesh has one shape
  const int32_t *quads_before;
  const double *nodes;  ///< [element of the caller][node]: the field
  int64_t n;
  const double *x, *y, *z;  ///< [n]; z NULL: in the plane
  double *values;           ///< [n]
  /// [n] the element of the mesh, -1: none, and [n][dimension] where in its shape, both without
  /// values: the field is not asked for. NULL: it is
  int32_t *element;
  double *place;
} kg_locate_args;

KG_DECLARE_OPERATOR(kg_locate, kg_locate_args);

/// How far inside of its shape a place is; below 0: outside.
KG_INLINE double kg_depth(int dimension, bool triangle, const double *at)
{
  const double x = at[0], y = at[1], low = fmin(x, y);
  if (dimension == 3) return fmin(fmin(low, at[2]), 1.0 - x - y - at[2]);
  return triangle ? fmin(low, 1.0 - x - y) : fmin(low, fmin(1.0 - x, 1.0 - y));
}

/// The determinant of three vectors: a . (b x c).
KG_INLINE double kg_triple(const double *a, const double *b, const double *c)
{
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// The place of a point in a tetrahedron.
/// @param[in] c  corner 0, and the edges from there
/// @return the determinant of its map
KG_INLINE double kg_invert_tetrahedron(const double *c, const double *point, double *at)
{
  const double off[3] = {point[0] - c[0], point[1] - c[1], point[2] - c[2]};
  const double det = kg_triple(c + 3, c + 6, c + 9);
  at[0] = kg_triple(off, c + 6, c + 9) / det;
  at[1] = kg_triple(c + 3, off, c + 9) / det;
  at[2] = kg_triple(c + 3, c + 6, off) / det;
  return det;
}

/// The place of a point (x, y) in an element, by Newton's method from its middle. Points are taken
/// from the first corner: far from the origin, sums with it would round away what the method
/// corrects.
/// @return whether there is one in the element or near it
KG_INLINE bool kg_invert_map(const kg_located_shape *s, const double *c, double x, double y,
                             double at[2])
{
  const double middle = s->triangle ? 1.0 / 3.0 : 0.5;
  const bool affine = s->triangle && s->geometry == 1;
  at[0] = at[1] = middle;
  for (int step = 0; step < 25; ++step) {
    double m[3][2];
    kg_map_at(s->triangle, s->geometry, c, at[0], at[1], m);
    const double off[2] = {x - c[0] - m[0][0], y - c[1] - m[0][1]};
    const double det = m[1][0] * m[2][1] - m[1][1] * m[2][0];
    const double dx = (off[0] * m[2][1] - off[1] * m[2][0]) / det;
    const double dy = (m[1][0] * off[1] - m[1][1] * off[0]) / det;
    const double far = hypot(dx, dy), part = affine ? 1.0 : fmin(1.0, 0.7 / far);
    const double squares =
        m[1][0] * m[1][0] + m[1][1] * m[1][1] + m[2][0] * m[2][0] + m[2][1] * m[2][1];
    const double rounding = 8.0 * DBL_EPSILON * squares / fabs(det);
    at[0] += part * dx;
    at[1] += part * dy;
    if (affine || far < fmin(fmax(rounding, 1e-12), 1e-6)) return true;
    if (!(fabs(at[0] - 0.5) < 2.0 && fabs(at[1] - 0.5) < 2.0)) return false;
  }
  return false;
}

/// The element that has been found so far.
typedef struct kg_found {
  int32_t element, number;  ///< of the mesh, -1: none; of the caller
  double at[3];
  bool mirrored;  ///< a tetrahedron whose nodes are those with the last two corners exchanged
} kg_found;

/// Look at an element. @return whether the point is inside, so that no other can hold it
KG_INLINE bool kg_try_element(int dimension, const kg_locate_args *a, int32_t e,
                              const double *point, kg_found *found)
{
  const kg_located_shape *const s = &a->shape[a->n_shapes > 1 && e >= a->shape[1].first];
  const double *const c = s->coefficients + dimension * (int64_t)(e - s->first) * s->n_powers;
  double at[3], det = 1.0;
  if (dimension == 3)
    det = kg_invert_tetrahedron(c, point, at);
  else if (!kg_invert_map(s, c, point[0], point[1], at))
    return false;
  const double depth = kg_depth(dimension, s->triangle, at), tolerance = a->tolerance[e];
  const bool inside = depth > tolerance;
  const bool first = found->element < 0 || a->origin[e] < found->number;
  if (!inside && !(depth >= -tolerance && first)) return false;
  found->element = e;
  found->number = a->origin[e];
  found->mirrored = det < 0.0;
  for (int d = 0; d < dimension; ++d) found->at[d] = at[d];
  return inside;
}

KG_INLINE bool kg_is_in_box(int dimension, const double *box, const double *point)
{
  bool in = true;
  for (int d = 0; d < dimension; ++d)
    in = in && box[d] <= point[d] && point[d] <= box[dimension + d];
  return in;
}

/// The element that holds a point. The tree is walked in its order, without a stack.
KG_INLINE void kg_find_element(int dimension, const kg_locate_args *a, const double *point,
                               kg_found *found)
{
  const kg_box_tree *const t = &a->tree;
  const int top = t->n_levels - 1;
  int level = top;
  int64_t k = 0;
  found->element = found->number = -1;
  found->at[0] = found->at[1] = found->at[2] = 0.0;
  for (;;) {
    if (kg_is_in_box(dimension, t->box + 2 * dimension * (t->first[level] + k), point)) {
      if (level > 0) {
        --level;
        k *= KG_BRANCHES;
        continue;
      }
      if (kg_try_element(dimension, a, (int32_t)k, point, found)) return;
    }
    while (level < top && (k % KG_BRANCHES == KG_BRANCHES - 1 || k + 1 == t->count[level])) {
      k /= KG_BRANCHES;
      ++level;
    }
    if (level == top) return;
    ++k;
  }
}

/// The value of the field at a place that is found.
KG_INLINE double kg_found_value(int dimension, const kg_locate_args *a, const kg_found *found)
{
  const kg_nodal *const p = &a->shape[a->n_shapes > 1 && found->element >= a->shape[1].first].field;
  const double *const at = found->at;
  int64_t first = (int64_t)found->number * a->shape[0].field.n;
  if (a->quads_before)
    first += (int64_t)a->quads_before[found->element] * (a->shape[1].field.n - a->shape[0].field.n);
  if (dimension == 2) return kg_nodal_value(p, a->nodes + first, at[0], at[1]);
  return kg_nodal_value_in_space(p, a->nodes + first, at[0], at[found->mirrored ? 2 : 1],
                                 at[found->mirrored ? 1 : 2]);
}

KG_INLINE void kg_locate_point(int dimension, const kg_locate_args *a, int64_t i)
{
  const double point[3] = {a->x[i], a->y[i], dimension == 3 ? a->z[i] : 0.0};
  kg_found found;
  kg_find_element(dimension, a, point, &found);
  if (a->element) {
    a->element[i] = found.element;
    for (int d = 0; d < dimension; ++d) a->place[dimension * i + d] = found.at[d];
    return;
  }
  a->values[i] = found.element < 0 ? NAN : kg_found_value(dimension, a, &found);
}

KEDGE_END_DECLS

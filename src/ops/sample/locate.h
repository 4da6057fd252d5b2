/// @file
/// Values of a field at points anywhere: a tree of boxes over the elements finds those that may
/// hold a point, Newton's method the place in them, and polynomials by values at nodes the value.
///
/// A point has the value of the element that it is inside of; on an edge, that of the neighbour
/// with the lower number of the caller; NaN outside of all.
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
  int n_levels;
  int64_t first[KG_TREE_LEVELS], count[KG_TREE_LEVELS];  ///< of a level, the elements' being 0
  const double *box;                                     ///< [box][4]: least x, y, greatest x, y
} kg_box_tree;

/// Elements of one shape.
typedef struct kg_located_shape {
  bool triangle;
  int geometry, n_powers;
  int32_t first, n;            ///< elements of the mesh
  const double *coefficients;  ///< [element of these][power][2], of the maps (kg_map_at())
  kg_nodal field;
} kg_located_shape;

typedef struct kg_locate_args {
  kg_box_tree tree;
  const double *tolerance;  ///< [element]: how far outside a point is still its own
  int n_shapes;
  kg_located_shape shape[2];
  const int32_t *origin;  ///< [element]: its number in the caller's order
  const int32_t *wide;    ///< [element]: quadrilaterals before it in that order; NULL: one shape
  const double *nodes;    ///< [element of the caller][node]: the field
  int64_t n;
  const double *x, *y;  ///< [n]
  double *values;       ///< [n]
  /// [n] the element of the mesh, -1: none, and [n][2] where in its shape, both without values: the
  /// field is not asked for. NULL: it is
  int32_t *element;
  double *place;
} kg_locate_args;

KG_DECLARE_OPERATOR(kg_locate, kg_locate_args);

/// How far inside of its shape a place is; below 0: outside.
KG_INLINE double kg_depth(bool triangle, double x, double y)
{
  const double low = fmin(x, y);
  return triangle ? fmin(low, 1.0 - x - y) : fmin(low, fmin(1.0 - x, 1.0 - y));
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
  double at[2];
} kg_found;

/// Look at an element. @return whether the point is inside, so that no other can hold it
KG_INLINE bool kg_try_element(const kg_locate_args *a, int32_t e, double x, double y,
                              kg_found *found)
{
  const kg_located_shape *const s = &a->shape[a->n_shapes > 1 && e >= a->shape[1].first];
  const double *const c = s->coefficients + 2 * (int64_t)(e - s->first) * s->n_powers;
  double at[2];
  if (!kg_invert_map(s, c, x, y, at)) return false;
  const double depth = kg_depth(s->triangle, at[0], at[1]), tolerance = a->tolerance[e];
  const bool inside = depth > tolerance;
  const bool first = found->element < 0 || a->origin[e] < found->number;
  if (!inside && !(depth >= -tolerance && first)) return false;
  found->element = e;
  found->number = a->origin[e];
  found->at[0] = at[0];
  found->at[1] = at[1];
  return inside;
}

/// The element that holds a point. The tree is walked in its order, without a stack.
KG_INLINE void kg_find_element(const kg_locate_args *a, double x, double y, kg_found *found)
{
  const kg_box_tree *const t = &a->tree;
  const int top = t->n_levels - 1;
  int level = top;
  int64_t k = 0;
  found->element = found->number = -1;
  found->at[0] = found->at[1] = 0.0;
  for (;;) {
    const double *const box = t->box + 4 * (t->first[level] + k);
    if (box[0] <= x && x <= box[2] && box[1] <= y && y <= box[3]) {
      if (level > 0) {
        --level;
        k *= KG_BRANCHES;
        continue;
      }
      if (kg_try_element(a, (int32_t)k, x, y, found)) return;
    }
    while (level < top && (k % KG_BRANCHES == KG_BRANCHES - 1 || k + 1 == t->count[level])) {
      k /= KG_BRANCHES;
      ++level;
    }
    if (level == top) return;
    ++k;
  }
}

KG_INLINE void kg_locate_point(const kg_locate_args *a, int64_t i)
{
  kg_found found;
  kg_find_element(a, a->x[i], a->y[i], &found);
  if (a->element) {
    a->element[i] = found.element;
    for (int d = 0; d < 2; ++d) a->place[2 * i + d] = found.at[d];
    return;
  }
  a->values[i] = NAN;
  if (found.element < 0) return;
  const kg_nodal *const p = &a->shape[a->n_shapes > 1 && found.element >= a->shape[1].first].field;
  int64_t first = (int64_t)found.number * a->shape[0].field.n;
  if (a->wide)
    first += (int64_t)a->wide[found.element] * (a->shape[1].field.n - a->shape[0].field.n);
  a->values[i] = kg_nodal_value(p, a->nodes + first, found.at[0], found.at[1]);
}

KEDGE_END_DECLS

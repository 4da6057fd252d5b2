/// @file
/// The corners of the facets of tetrahedra: those of facet l are the vertices of its element but
/// vertex l, ascending in the mesh's order of vertices. So they come in the same order from both
/// elements, and a facet has the same modes from both.
///
/// Linear functions on a facet with the values v_0, v_1, v_2 at its corners have three modes of its
/// orthonormal basis (basis/cell.h):
///
///     mode 0 = sqrt 2 / 3 (v_0 + v_1 + v_2)
///     mode 1 = (2 v_2 - v_0 - v_1) / 6
///     mode 2 = (v_1 - v_0) / (2 sqrt 3)
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

enum { KG_CORNERS = 3 };  ///< of a facet, which are as many as a linear function has modes there

#define KG_CORNER_MEAN  0.47140452079103168293  ///< sqrt 2 / 3
#define KG_CORNER_SLOPE 0.28867513459481288225  ///< 1 / (2 sqrt 3)

KG_INLINE bool kg_lanes_in_space(const kg_lane_runs *lanes)
{
  return lanes->run[0].cell == KG_TETRAHEDRA;
}

/// The vertex of the element that is corner c of its facet l.
KG_INLINE int kg_facet_corner(int l, int c)
{
  return c < l ? c : c + 1;
}

/// The vertices of a facet.
KG_INLINE void kg_facet_vertices(const kg_trace_arrays *arrays, int32_t facet,
                                 int32_t vertex[KG_CORNERS])
{
  const kg_side side = arrays->edge_sides[2 * (int64_t)facet];
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side);
  for (int c = 0; c < KG_CORNERS; ++c)
    vertex[c] = arrays->vertex[kg_facet_at(arrays, e, kg_facet_corner(l, c))];
}

/// The modes of a linear function, from its values at the corners.
KG_INLINE void kg_corner_modes(const double value[KG_CORNERS], double mode[KG_CORNERS])
{
  mode[0] = KG_CORNER_MEAN * (value[0] + value[1] + value[2]);
  mode[1] = (2.0 * value[2] - value[0] - value[1]) / 6.0;
  mode[2] = KG_CORNER_SLOPE * (value[1] - value[0]);
}

/// The transpose: what modes are to the values at the corners.
KG_INLINE void kg_corner_values(const double mode[KG_CORNERS], double value[KG_CORNERS])
{
  const double mean = KG_CORNER_MEAN * mode[0], across = mode[1] / 6.0;
  const double along = KG_CORNER_SLOPE * mode[2];
  value[0] = mean - across - along;
  value[1] = mean - across + along;
  value[2] = mean + 2.0 * across;
}

/// Value c alone of these.
KG_INLINE double kg_corner_value(const double mode[KG_CORNERS], int c)
{
  double value[KG_CORNERS];
  kg_corner_values(mode, value);
  return c == 0 ? value[0] : c == 1 ? value[1] : value[2];
}

KEDGE_END_DECLS

/// @file
/// A stage at one node, for host code and kernels. A system's header is included before this: its
/// functions law_*() and sizes KG_LAW_*.
#pragma once
#include "ops/waves/stage.h"

/// The medium of an element.
KG_INLINE void kg_wave_medium(const kg_wave_args *a, int32_t element,
                              kg_real number[KG_LAW_NUMBERS])
{
  const int64_t group = element / KG_WAVE_LANES;
  for (int k = 0; k < KG_LAW_NUMBERS; ++k)
    number[k] = a->medium[(group * KG_LAW_NUMBERS + k) * KG_WAVE_LANES + element % KG_WAVE_LANES];
}

/// The part of upwinding in the flux of a facet.
KG_INLINE kg_real kg_wave_upwind(const kg_wave_args *a, int32_t beyond)
{
  const int kind = beyond >= 0 ? KG_WAVE_KINDS : a->boundary[-1 - beyond].kind;
  return kind == KG_WAVE_ABSORBS || kind == KG_WAVE_ENTERS ? (kg_real)1 : (kg_real)a->upwind;
}

/// The jump at node j of a facet on the boundary.
KG_INLINE void kg_wave_boundary(const kg_wave_args *a, int32_t beyond, int j, const kg_real *normal,
                                const kg_real *own, kg_real *jump)
{
  const kg_wave_side side = a->boundary[-1 - beyond];
  kg_real data[KG_LAW_FIELDS];
  for (int i = 0; i < KG_LAW_FIELDS; ++i)
    data[i] = side.data < 0 ? (kg_real)0
                            : a->data[((int64_t)side.data * KG_LAW_FIELDS + i) * a->n_facet + j];
  law_ghost(side.kind, normal, own, data, jump);
}

/// f of node j of facet l, times |F_l| / (2 J).
KG_INLINE void kg_wave_facet_node(const kg_wave_args *a, int32_t element, int l, int j,
                                  kg_real f[KG_LAW_FIELDS])
{
  const int64_t group = element / KG_WAVE_LANES, facets = KG_LAW_DIMENSION + 1;
  const int lane = element % KG_WAVE_LANES, node = a->facet_node[l * a->n_facet + j];
  const int32_t beyond = a->beyond[(group * facets + l) * KG_WAVE_LANES + lane];
  const kg_real *const facet =
      a->facet + (group * facets + l) * (KG_LAW_DIMENSION + 1) * KG_WAVE_LANES + lane;
  kg_real normal[KG_LAW_DIMENSION], own[KG_LAW_FIELDS], jump[KG_LAW_FIELDS];
  kg_real in[KG_LAW_NUMBERS], out[KG_LAW_NUMBERS];
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) normal[k] = facet[k * KG_WAVE_LANES];
  for (int i = 0; i < KG_LAW_FIELDS; ++i) own[i] = a->u[kg_wave_place(a, element, i, node)];
  kg_wave_medium(a, element, in);
  if (beyond >= 0) {
    const int32_t other = kg_side_element((kg_side)beyond);
    // In the plane a side runs against that of its neighbour, in space along with it.
    const int k = KG_LAW_DIMENSION == 2 ? a->n_facet - 1 - j : j;
    const int there = a->facet_node[kg_side_facet((kg_side)beyond) * a->n_facet + k];
    for (int i = 0; i < KG_LAW_FIELDS; ++i)
      jump[i] = own[i] - a->u[kg_wave_place(a, other, i, there)];
    kg_wave_medium(a, other, out);
  } else {
    kg_wave_boundary(a, beyond, j, normal, own, jump);
    for (int k = 0; k < KG_LAW_NUMBERS; ++k) out[k] = in[k];
  }
  law_flux(normal, in, out, jump, kg_wave_upwind(a, beyond), f);
  for (int i = 0; i < KG_LAW_FIELDS; ++i) f[i] *= facet[KG_LAW_DIMENSION * KG_WAVE_LANES];
}

/// The end of a stage at a node.
/// @param[in] slope  D_a u for every a
/// @param[in] lifted  what LIFT makes of f
KG_INLINE void kg_wave_end_node(const kg_wave_args *a, int32_t element, int node,
                                const kg_real slope[KG_LAW_DIMENSION][KG_LAW_FIELDS],
                                const kg_real lifted[KG_LAW_FIELDS])
{
  const int64_t group = element / KG_WAVE_LANES;
  const kg_real *const gradient = a->gradient +
                                  group * KG_LAW_DIMENSION * KG_LAW_DIMENSION * KG_WAVE_LANES +
                                  element % KG_WAVE_LANES;
  kg_real rhs[KG_LAW_FIELDS], own[KG_LAW_FIELDS], number[KG_LAW_NUMBERS];
  for (int f = 0; f < KG_LAW_FIELDS; ++f) {
    own[f] = a->u[kg_wave_place(a, element, f, node)];
    rhs[f] = lifted[f];
  }
  for (int d = 0; d < KG_LAW_DIMENSION; ++d) {
    kg_real g[KG_LAW_DIMENSION], w[KG_LAW_FIELDS];
    for (int k = 0; k < KG_LAW_DIMENSION; ++k)
      g[k] = gradient[(d * KG_LAW_DIMENSION + k) * KG_WAVE_LANES];
    law_along(g, slope[d], w);
    for (int f = 0; f < KG_LAW_FIELDS; ++f) rhs[f] += w[f];
  }
  kg_wave_medium(a, element, number);
  law_settle(number, own, rhs);
  for (int f = 0; f < KG_LAW_FIELDS; ++f) {
    const int64_t at = kg_wave_place(a, element, f, node);
    // The first stage begins anew, whatever is there.
    const kg_real before = a->before == 0.0 ? (kg_real)0 : (kg_real)a->before * a->residual[at];
    const kg_real residual = before + (kg_real)a->step * rhs[f];
    a->residual[at] = residual;
    a->next[at] = own[f] + (kg_real)a->after * residual;
  }
}

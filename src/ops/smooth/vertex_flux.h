/// @file
/// A P c of the coarse space (ops/numbering/vertex_space.h) without a product with K^e, where there
/// is no reaction: the local solution of linear boundary values is the linear function itself,
/// whatever the stabilization, and its flux through an edge is constant. So A P c is zero but in
/// mode 0 of each edge, where it is the jump of the normal flux of c.
///
/// Where the diffusion is a tensor, this holds after a change of coordinates that makes it a number
/// (kg_turn_tangent()). With d_a = x_a - x_o, d_b = x_b - x_o from the vertex o opposite to an edge
/// from a to b, t = x_b - x_a and the diffusion k, an element adds
///
///     -sqrt 2 (s_a (c_a - c_o) + s_b (c_b - c_o))
///       = k / sqrt 2 ((d_b . t) (c_a - c_o) - (d_a . t) (c_b - c_o)) / |d_a x d_b|
///
/// where s_a, s_b are the entries of its 3 x 3 matrix P_e^T K^e P_e between o and a, b. Nothing is
/// kept for it: it is computed from the corners where a correction is added, which reads less than
/// three numbers and two unknowns an edge would be.
#pragma once
#include <math.h>

#include "ops/local/triangle/element.h"
#include "ops/numbering/trace_arrays.h"
#include "ops/numbering/vertex_space.h"
#include "ops/smooth/vertex_rows.h"
KEDGE_BEGIN_DECLS

/// A coarse function c, still to be added to z = z + P c and its product with A: by rows of A P, or
/// by fluxes, without reaction and on triangles alone. In device memory.
typedef struct kg_vertex_correction {
  kg_vertex_space space;
  kg_materials materials;  ///< of all lanes; for fluxes
  kg_vertex_rows rows;     ///< value is NULL: by fluxes
  int32_t n_edges;         ///< free edges
  const double *coarse;    ///< [unknown]; NULL: there is nothing to add
} kg_vertex_correction;

/// What an edge receives of a correction.
typedef struct kg_edge_correction {
  double mean, slope;  ///< modes 0 and 1 of P c
  double flux;         ///< mode 0 of A P c
} kg_edge_correction;

/// sqrt 2 / k times what an element adds to the flux of an edge, from d_a, d_b and the rises of c
/// from the opposite vertex.
KG_INLINE double kg_vertex_flux_of(const double d[2][2], const double rise[2])
{
  const double t[2] = {d[1][0] - d[0][0], d[1][1] - d[0][1]};
  const double before = d[0][0] * t[0] + d[0][1] * t[1], behind = d[1][0] * t[0] + d[1][1] * t[1];
  return (behind * rise[0] - before * rise[1]) / fabs(d[0][0] * d[1][1] - d[0][1] * d[1][0]);
}

/// sqrt 2 times what the element of a side adds to the flux of an edge.
/// @param[in] vertex  of the edge
KG_INLINE double kg_vertex_flux(const kg_vertex_correction *a, kg_coarse_vector c,
                                const int32_t vertex[2], kg_side side)
{
  const double *x = a->space.mesh.vertices;
  const int corner = kg_facet_before(3, kg_side_facet(side));
  const int32_t e = kg_side_element(side);
  const int32_t opposite = a->space.mesh.vertex[kg_lane_side(3, e, corner)];
  double d[2][2], rise[2];
  for (int k = 0; k < 2; ++k) {
    d[k][0] = x[2 * (int64_t)vertex[k]] - x[2 * (int64_t)opposite];
    d[k][1] = x[2 * (int64_t)vertex[k] + 1] - x[2 * (int64_t)opposite + 1];
    rise[k] = kg_coarse_at(c, vertex[k]) - kg_coarse_at(c, opposite);
  }
  const kg_material k = kg_material_at(&a->materials, e / KG_LANES, e % KG_LANES);
  if (k.is_tensor)
    for (int i = 0; i < 2; ++i) kg_turn_tangent(k.root, d[i]);
  return k.diffusion * kg_vertex_flux_of(d, rise);
}

/// Whether fluxes of coarse functions may be known: a bilinear one is no local solution.
KG_INLINE bool kg_vertex_fluxes_are_known(const kg_trace_arrays *mesh)
{
  return kg_all_lanes_are(&mesh->lanes, KG_TRIANGLES);
}

/// What an edge receives of one of K vectors.
KG_INLINE kg_edge_correction kg_edge_correct(const kg_vertex_correction *a, int32_t edge, int K,
                                             int vector)
{
  const kg_coarse_vector of = {a->coarse, K, vector};
  int32_t vertex[2];
  kg_edge_vertices(&a->space.mesh, edge, vertex);
  const double low = kg_coarse_at(of, vertex[0]), high = kg_coarse_at(of, vertex[1]);
  const kg_side *side = a->space.mesh.edge_sides + 2 * (int64_t)edge;
  double flux = kg_vertex_flux(a, of, vertex, side[0]);
  if (side[1] != KG_NO_SIDE) flux += kg_vertex_flux(a, of, vertex, side[1]);
  const kg_edge_correction c = {kg_prolong_mean(low, high), kg_prolong_slope(low, high),
                                KG_PROLONG_MEAN * flux};
  return c;
}

KEDGE_END_DECLS

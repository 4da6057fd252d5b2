/// @file
/// A P c of the coarse space (ops/vertex_space.h) without a product with K^e, where there is no
/// reaction: the local solution of linear boundary values is the linear function itself, whatever the
/// stabilization, and its flux through an edge is constant. So A P c is zero but in mode 0 of each
/// edge, where it is the jump of the normal flux of c.
///
/// An element adds -sqrt 2 (s_a (c_a - c_o) + s_b (c_b - c_o)) to an edge from a to b, where o is its
/// vertex opposite, and s_a, s_b are the entries of its 3 x 3 matrix P_e^T K^e P_e between o and a, b:
/// its rows add up to zero. With both elements of the edge
///
///     (A P c)_0 = q_0 (c_b - c_a) + q_1 (c_o - c_a) + q_2 (c_o' - c_a)
///
/// Differences are taken first: c is smooth, and single precision is then enough for q.
#pragma once
#include "ops/trace_arrays.h"
#include "ops/vertex_matrix.h"
KEDGE_BEGIN_DECLS

/// In device memory.
typedef struct kg_vertex_flux {
  int32_t
      *opposite;  ///< [free trace edge][2]: unknown opposite in its lower and higher side, or -1
  float *q;       ///< [3][free trace edge]; NULL: it is not known, there is a reaction
} kg_vertex_flux;

typedef struct kg_vertex_flux_args {
  kg_batch batch;
  kg_vertex_space space;
  const double *element;  ///< of kg_vertex_matrix_fill()
  kg_vertex_flux flux;    ///< filled
} kg_vertex_flux_args;

kedge_status kg_vertex_flux_fill(kedge_context *ctx, const kg_vertex_flux_args *args);
kg_cost kg_vertex_flux_cost(const kg_trace_counts *count);

kedge_status kg_vertex_flux_fill_host(kedge_context *ctx, const kg_vertex_flux_args *args);
kedge_status kg_vertex_flux_fill_cuda(kedge_context *ctx, const kg_vertex_flux_args *args);

/// The unknown at the end of side l of element e, or -1.
KG_INLINE int32_t kg_vertex_of_side(const kg_vertex_flux_args *a, int32_t e, int l)
{
  const uint32_t side = a->batch.arrays.side_edge[kg_lane_side(e, l)];
  const int64_t edge = side >> 1;
  if (edge >= a->batch.count.n_free) return -1;  // a Dirichlet edge
  return a->space.edge_row[2 * edge + ((side & 1u) ^ 1u)];
}

/// The flux through an edge.
KG_INLINE void kg_vertex_flux_of(const kg_vertex_flux_args *a, int32_t edge)
{
  const double root_2 = 1.41421356237309504880;
  double q[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < 2; ++k) {
    const int32_t side = a->batch.arrays.edge_sides[2 * (int64_t)edge + k];
    a->flux.opposite[2 * (int64_t)edge + k] = -1;
    if (side < 0) continue;
    const int32_t e = side / 3, begin = side % 3, end = (begin + 1) % 3, across = (begin + 2) % 3;
    const uint32_t both = a->batch.arrays.side_edge[kg_lane_side(e, begin)];
    const double at_begin = a->element[kg_vertex_element_at(e, across, begin)];
    const double at_end = a->element[kg_vertex_element_at(e, across, end)];
    q[0] -= root_2 * (both & 1u ? at_begin : at_end);  // of the higher vertex
    q[1 + k] = root_2 * (at_begin + at_end);
    a->flux.opposite[2 * (int64_t)edge + k] = kg_vertex_of_side(a, e, end);
  }
  for (int k = 0; k < 3; ++k) a->flux.q[k * (int64_t)a->batch.count.n_free + edge] = (float)q[k];
}

/// A coarse function c that is still to be added to z = z + P c, and to its product with A.
typedef struct kg_vertex_correction {
  kg_vertex_space space;
  kg_vertex_flux flux;   ///< without q: the product is left as it is
  int32_t n_edges;       ///< free edges
  const double *coarse;  ///< [unknown]; NULL: there is nothing to add
} kg_vertex_correction;

/// What it is on an edge.
typedef struct kg_edge_correction {
  double mean, slope;  ///< modes 0 and 1 of P c
  double flux;         ///< mode 0 of A P c
} kg_edge_correction;

KG_INLINE double kg_vertex_value(const kg_vertex_correction *a, int32_t row)
{
  return row >= 0 ? a->coarse[row] : 0.0;
}

KG_INLINE kg_edge_correction kg_edge_correct(const kg_vertex_correction *a, int32_t edge)
{
  const int32_t *row = a->space.edge_row + 2 * (int64_t)edge;
  const double low = kg_vertex_value(a, row[0]), high = kg_vertex_value(a, row[1]);
  kg_edge_correction c = {KG_PROLONG_MEAN * (low + high), KG_PROLONG_SLOPE * (high - low), 0.0};
  if (!a->flux.q) return c;
  const int32_t *opposite = a->flux.opposite + 2 * (int64_t)edge;
  const float *q = a->flux.q + edge;
  c.flux = (double)q[0] * (high - low);
  for (int k = 0; k < 2; ++k)
    c.flux += (double)q[(k + 1) * (int64_t)a->n_edges] * (kg_vertex_value(a, opposite[k]) - low);
  return c;
}

KEDGE_END_DECLS

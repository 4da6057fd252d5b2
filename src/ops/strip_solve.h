/// @file
/// Strips of elements: what multigrid smooths with on stretched, irregular triangles, whose three
/// edges are all coupled strongly (multigrid/smoother.h).
///
/// Each element has a pair of sides, those of its smallest angle (mesh/edge_lines.h), and a *third*
/// one. Elements whose pairs make a line are a strip: the edges of the line, and third edges, of
/// which two strips, or twice the same, have a *copy* each. Elements that are no neighbours in a
/// strip are not coupled. So the matrix of a strip, A_s, has blocks of A for its edges and copies,
/// of K^e for the pairs in line, and of K^e for a third edge f and the pair of its element, and
///
///     B^-1 = 1/2 sum over strips of R_s^T A_s^-1 R_s
///
/// with all copies. Third edges go first: with W_p = A_f^-1 K^e_fp for p of the pair,
///
///     condense   x_p = v_p - sum W_p^T v_f   for the edges p of lines, over their elements there
///     solve      y = x of the lines               with K^e_pq - K^e_pf W_q in place of K^e_pq
///                                                (ops/line_factor.h, ops/line_sweep.h)
///     expand     1/2 (y_p + sum (A_f^-1 v_f - sum_p W_p y_p))   of a line, and third of elements
#pragma once
#include "core/inline.h"
#include "ops/local/entry.h"
#include "ops/real.h"
#include "ops/trace_arrays.h"
KEDGE_BEGIN_DECLS

/// In device memory. The *slot* of a side is 0 where it begins in its element's corner, then 1, the
/// third side, and 2, the other one of the pair.
typedef struct kg_strips {
  uint8_t *corner;  ///< [element]; NULL: there are no strips
  void *own;        ///< [edge group][m (m+1) / 2][lane]: A_f^-1 (ops/edge_blocks.h)
  void *third;      ///< [element][2][m][m]: W of slots 0 and 2, rows of the third edge;
                    ///< 0 without one
} kg_strips;

typedef struct kg_strip_fill_args {
  kg_batch batch;
  kg_locals locals;
  kg_strips strips;  ///< third is filled
  kg_number number;  ///< of own and third
} kg_strip_fill_args;

typedef struct kg_strip_args {
  kg_batch batch;  ///< count, arrays.side_edge and sizes are used
  kg_strips strips;
  kg_number number;  ///< of all vectors
  void *v;           ///< [free trace edge][mode]; written by expand
  void *y;           ///< the same; written by condense
} kg_strip_args;

kedge_status kg_strip_fill(kedge_context *ctx, const kg_strip_fill_args *args);
/// y = x of v; of edges that are in no line v itself.
kedge_status kg_strip_condense(kedge_context *ctx, const kg_strip_args *args);
/// v = B^-1 v from the y of the lines.
kedge_status kg_strip_expand(kedge_context *ctx, const kg_strip_args *args);
kg_cost kg_strip_fill_cost(kg_sizes size, const kg_trace_counts *count, kg_number local,
                           kg_number number);
/// Both passes.
kg_cost kg_strip_cost(kg_sizes size, const kg_trace_counts *count, kg_number number);

kedge_status kg_strip_fill_host(kedge_context *ctx, const kg_strip_fill_args *args);
kedge_status kg_strip_condense_host(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_expand_host(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_fill_cuda(kedge_context *ctx, const kg_strip_fill_args *args);
kedge_status kg_strip_condense_cuda(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_expand_cuda(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_fill_host_single(kedge_context *ctx, const kg_strip_fill_args *args);
kedge_status kg_strip_condense_host_single(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_expand_host_single(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_fill_cuda_single(kedge_context *ctx, const kg_strip_fill_args *args);
kedge_status kg_strip_condense_cuda_single(kedge_context *ctx, const kg_strip_args *args);
kedge_status kg_strip_expand_cuda_single(kedge_context *ctx, const kg_strip_args *args);

/// The slot of side l of an element, and the side of a slot.
KG_INLINE int kg_strip_slot(int corner, int l)
{
  return (l + 3 - corner) % 3;
}
KG_INLINE int kg_strip_side(int corner, int slot)
{
  return (corner + slot) % 3;
}

/// The trace edge of a slot, or -1: it carries no unknowns.
KG_INLINE int32_t kg_strip_edge(const kg_batch *batch, int corner, int32_t e, int slot)
{
  const uint32_t side = batch->arrays.side_edge[kg_lane_side(3, e, kg_strip_side(corner, slot))];
  const int32_t edge = (int32_t)(side >> 1);
  return edge < batch->count.n_free ? edge : -1;
}

/// W of slot 0 or 2.
KG_INLINE const kg_real *kg_strip_third(const kg_strips *strips, int m, int32_t e, int slot)
{
  return (const kg_real *)strips->third + ((int64_t)e * 2 + slot / 2) * m * m;
}

/// Entry (k, j) of A_f^-1.
KG_INLINE kg_real kg_strip_own(const kg_strips *strips, int m, int32_t edge, int k, int j)
{
  const int64_t block = (int64_t)(edge / KG_LANES) * (m * (m + 1) / 2) * KG_LANES;
  return ((const kg_real *)strips->own)[block + edge % KG_LANES + kg_local_at(k, j)];
}

/// Entry (k, i) of W of an element's slot 0 or 2.
KG_INLINE kg_real kg_strip_entry(const kg_strip_fill_args *a, int32_t e, int slot, int k, int i)
{
  const int m = a->batch.reference.size.n_edge, corner = a->strips.corner[e];
  const int third = kg_strip_side(corner, 1), other = kg_strip_side(corner, slot);
  const kg_local_element element = kg_local_element_of(&a->locals, m, e);
  const int32_t edge = kg_strip_edge(&a->batch, corner, e, 1);
  double sum = 0.0;
  for (int j = 0; edge >= 0 && j < m; ++j)
    sum += (double)kg_strip_own(&a->strips, m, edge, k, j) *
           kg_local_entry(&element, third, j, other, i);
  return (kg_real)sum;
}

/// Mode i of an edge of x.
KG_INLINE kg_real kg_strip_condensed(const kg_strip_args *a, int m, int32_t edge, int i)
{
  const kg_real *v = (const kg_real *)a->v;
  kg_real sum = v[(int64_t)edge * m + i];
  for (int of = 0; of < 2; ++of) {
    const kg_side side = a->batch.arrays.edge_sides[2 * (int64_t)edge + of];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int corner = a->strips.corner[e], slot = kg_strip_slot(corner, kg_side_facet(side));
    const int32_t third = slot == 1 ? -1 : kg_strip_edge(&a->batch, corner, e, 1);
    if (third < 0) continue;
    const kg_real *w = kg_strip_third(&a->strips, m, e, slot) + i;
    for (int k = 0; k < m; ++k) sum -= w[k * m] * v[(int64_t)third * m + k];
  }
  return sum;
}

/// Mode k of an edge of B^-1 v.
KG_INLINE kg_real kg_strip_expanded(const kg_strip_args *a, int m, int32_t edge, int k)
{
  const kg_real *v = (const kg_real *)a->v + (int64_t)edge * m, *y = (const kg_real *)a->y;
  kg_real sum = 0, own = 0;
  bool in_line = false;
  for (int of = 0; of < 2; ++of) {
    const kg_side side = a->batch.arrays.edge_sides[2 * (int64_t)edge + of];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int corner = a->strips.corner[e];
    if (kg_strip_slot(corner, kg_side_facet(side)) != 1) {
      in_line = true;
      continue;
    }
    own += 1;
    for (int slot = 0; slot <= 2; slot += 2) {
      const int32_t pair = kg_strip_edge(&a->batch, corner, e, slot);
      const kg_real *w = kg_strip_third(&a->strips, m, e, slot) + k * m;
      for (int i = 0; pair >= 0 && i < m; ++i) sum -= w[i] * y[(int64_t)pair * m + i];
    }
  }
  for (int j = 0; own > 0 && j < m; ++j)
    sum += own * kg_strip_own(&a->strips, m, edge, k, j) * v[j];
  if (in_line) sum += y[(int64_t)edge * m + k];
  return (kg_real)0.5 * sum;
}

KEDGE_END_DECLS

/// @file
/// The blocks of the trace operator that belong to the three edges of an element, inverted: what
/// multigrid smooths with on stretched triangles (multigrid/smoother.h).
///
/// The block of an element is the n x n part of A that couples its edges with each other: K^e and,
/// on the diagonal block of an edge, what the element beyond it adds. With A_e that block and R_e
/// the restriction to it, smoothing multiplies by
///
///     B^-1 = 1/2 sum_e R_e^T A_e^-1 R_e
///
/// because most edges have two elements. A_e^-1 / 2 lies as K^e does, so that kg_trace_apply() is
/// this product. Rows of Dirichlet edges are zero.
#pragma once
#include "ops/local/entry.h"
#include "ops/sweep.h"
KEDGE_BEGIN_DECLS

typedef struct kg_element_blocks_args {
  kg_batch batch;
  kg_locals locals;
  kg_number number;  ///< of the inverses
  void *inverse;     ///< as K^e; empty lanes are zero
  int32_t *fault;    ///< work, one word: the first element without an inverse
} kg_element_blocks_args;

/// Waits for the device.
/// @retval KEDGE_ERR_NUMERIC  a block is not positive definite in double precision, or too large or
///         small for `number`; the sentence says where
kedge_status kg_element_blocks(kedge_context *ctx, const kg_element_blocks_args *args);
/// @param[in] local, number  of K^e and of the inverses
kg_cost kg_element_blocks_cost(kg_sizes size, const kg_trace_counts *count, kg_number local,
                               kg_number number);

kedge_status kg_element_blocks_host(kedge_context *ctx, const kg_element_blocks_args *args);
kedge_status kg_element_blocks_cuda(kedge_context *ctx, const kg_element_blocks_args *args);
kedge_status kg_element_blocks_host_single(kedge_context *ctx, const kg_element_blocks_args *args);
kedge_status kg_element_blocks_cuda_single(kedge_context *ctx, const kg_element_blocks_args *args);

/// Row 0 of an inverse; the next row is KG_LANES numbers on.
KG_INLINE int64_t kg_element_block_at(const kg_sizes *size, int32_t e)
{
  return (int64_t)(e / KG_LANES) * size->n_packed * KG_LANES + e % KG_LANES;
}

/// Add to the block of edge `first` / m, packed `stride` apart, what the K^e of another side has.
KG_INLINE void kg_element_block_add(const kg_element_blocks_args *a, kg_side side, int first,
                                    double *block, int stride)
{
  const int m = a->batch.reference.size.n_edge, l = kg_side_facet(side);
  const kg_local_element e = kg_local_element_of(&a->locals, m, kg_side_element(side));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j)
      block[kg_packed_entry(first + i, first + j) * stride] += kg_local_entry(&e, l, i, l, j);
}

/// Rows and columns of an edge without unknowns: those of the identity.
KG_INLINE void kg_element_block_cut(int n, int m, int first, double *block, int stride)
{
  for (int i = first; i < first + m; ++i)
    for (int j = 0; j < n; ++j) block[kg_packed_entry(i, j) * stride] = i == j ? 1.0 : 0.0;
}

/// -A_e^-1 / 2, packed `stride` apart. False: there is no inverse.
KG_INLINE bool kg_element_block(const kg_element_blocks_args *a, int32_t e, double *block,
                                int stride)
{
  const kg_sizes *size = &a->batch.reference.size;
  const int m = size->n_edge, n = size->n_trace;
  const kg_local_element element = kg_local_element_of(&a->locals, m, e);
  bool is_free[3];
  for (int i = 0, entry = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j, entry += stride)
      block[entry] = kg_local_entry(&element, i / m, i % m, j / m, j % m);
  for (int l = 0; l < 3; ++l) {
    const int64_t edge = a->batch.arrays.side_edge[kg_lane_side(3, e, l)] >> 1;
    const kg_side *sides = a->batch.arrays.edge_sides + 2 * edge;
    const kg_side other = sides[0] == kg_side_of(e, l) ? sides[1] : sides[0];
    is_free[l] = edge < a->batch.count.n_free;
    if (!is_free[l])
      kg_element_block_cut(n, m, l * m, block, stride);
    else if (other != KG_NO_SIDE)
      kg_element_block_add(a, other, l * m, block, stride);
  }
  const bool inverted = kg_sweep(n, block, stride) && kg_sweep_fits(n, block, stride);
  for (int i = 0, at = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j, at += stride)
      block[at] *= is_free[i / m] && is_free[j / m] ? 0.5 : 0.0;
  return inverted;
}

KEDGE_END_DECLS

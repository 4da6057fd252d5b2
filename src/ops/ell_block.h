/// @file
/// One m x m block of the ELL matrix and where its entries come from. One source for host and GPU,
/// so that both assemble the same bits.
#pragma once
#include "ops/element.h"
#include "ops/ops.h"

enum { KG_ELL_BLOCKS = 5 };

typedef struct kg_ell_block {
  int32_t edge;        ///< trace edge of its columns; -1: the block is missing
  int32_t element[2];  ///< whose K^e are added; second -1: one alone
  int row[2], col[2];  ///< where the block begins in each of them
} kg_ell_block;

/// Block `q` of the row of a trace edge.
/// @param[in] first, second  the edge's sides, lower first; second KG_NO_SIDE on the boundary
KG_INLINE kg_ell_block kg_ell_block_of(const kg_trace_arrays *arrays, int m, int32_t edge,
                                       kg_side first, kg_side second, int q)
{
  kg_ell_block block = {-1, {-1, -1}, {0, 0}, {0, 0}};
  if (q == 0) {
    block.edge = edge;
    block.element[0] = kg_side_element(first);
    block.row[0] = block.col[0] = kg_side_facet(first) * m;
    if (second != KG_NO_SIDE) {
      block.element[1] = kg_side_element(second);
      block.row[1] = block.col[1] = kg_side_facet(second) * m;
    }
    return block;
  }
  const kg_side side = q < 3 ? first : second;
  if (side == KG_NO_SIDE) return block;
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side);
  const int other = q % 2 == 1 ? (l == 0 ? 1 : 0) : (l == 2 ? 1 : 2);
  block.edge = (int32_t)(arrays->side_edge[kg_lane_side(3, e, other)] >> 1);
  block.element[0] = e;
  block.row[0] = l * m;
  block.col[0] = other * m;
  return block;
}

/// Entry (a, b) of the packed K^e of an element.
KG_INLINE double kg_ell_local_entry(const double *local, int n_packed, int32_t e, int a, int b)
{
  const int entry = kg_packed_entry(a, b);
  return local[((int64_t)(e / KG_LANES) * n_packed + entry) * KG_LANES + e % KG_LANES];
}

/// Entry (i, j) of a block that is not missing.
KG_INLINE double kg_ell_block_entry(const double *local, int n_packed, const kg_ell_block *block,
                                    int i, int j)
{
  const double value =
      kg_ell_local_entry(local, n_packed, block->element[0], block->row[0] + i, block->col[0] + j);
  if (block->element[1] < 0) return value;
  return value + kg_ell_local_entry(local, n_packed, block->element[1], block->row[1] + i,
                                    block->col[1] + j);
}

/// @file
/// One m x m block of the ELL matrix and where its entries come from. One source for host and GPU,
/// so that both assemble the same bits.
#pragma once
#include "ops/local/entry.h"

enum {
  KG_ELL_BLOCKS = 5,       ///< of a row: its edge and the others of its two elements
  KG_ELL_FOUR_BLOCKS = 7,  ///< of a row where there are elements of four facets
};

typedef struct kg_ell_block {
  int32_t edge;                 ///< trace edge of its columns; -1: the block is missing
  int n;                        ///< elements whose K^e are added, 1 or 2
  kg_local_element element[2];  ///< these elements
  int row[2], col[2];           ///< sides of its rows and of its columns in each of them
} kg_ell_block;

/// Term k of a block: what K^e of a side's element has in the rows of that side, columns of side
/// `col`.
KG_INLINE void kg_ell_block_put(kg_ell_block *block, int k, const kg_locals *locals, int m,
                                kg_side side, int col)
{
  block->n = k + 1;
  block->element[k] = kg_local_element_of(locals, m, kg_side_element(side));
  block->row[k] = kg_side_facet(side);
  block->col[k] = col;
}

/// Block `q` of the row of a trace edge.
/// @param[in] first, second  the edge's sides, lower first; second KG_NO_SIDE on the boundary
KG_INLINE kg_ell_block kg_ell_block_of(const kg_locals *locals, const kg_trace_arrays *arrays,
                                       int m, int32_t edge, kg_side first, kg_side second, int q)
{
  const kg_local_element none = kg_local_element_of(locals, m, kg_side_element(first));
  kg_ell_block block = {-1, 0, {none, none}, {0, 0}, {0, 0}};
  if (q == 0) {
    block.edge = edge;
    kg_ell_block_put(&block, 0, locals, m, first, kg_side_facet(first));
    if (second != KG_NO_SIDE) kg_ell_block_put(&block, 1, locals, m, second, kg_side_facet(second));
    return block;
  }
  const int n_first = kg_facets_of_lane(arrays, kg_side_element(first)) - 1;
  const kg_side side = q <= n_first ? first : second;
  if (side == KG_NO_SIDE) return block;
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side), k = q <= n_first ? q - 1 : q - 1 - n_first;
  const int other = k < l ? k : k + 1;
  if (other >= kg_facets_of_lane(arrays, e)) return block;
  block.edge = (int32_t)(arrays->side_edge[kg_facet_at(arrays, e, other)] >> 1);
  kg_ell_block_put(&block, 0, locals, m, side, other);
  return block;
}

/// Entry (i, j) of a block that is not missing.
KG_INLINE double kg_ell_block_entry(const kg_ell_block *block, int i, int j)
{
  const double value = kg_local_entry(&block->element[0], block->row[0], i, block->col[0], j);
  if (block->n == 1) return value;
  return value + kg_local_entry(&block->element[1], block->row[1], i, block->col[1], j);
}

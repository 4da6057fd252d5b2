/// @file
/// Single entries of K^e, whatever their layout and number.
#pragma once
#include "ops/local/differences.h"
#include "ops/local/full.h"
#include "ops/local/reduced.h"
KEDGE_BEGIN_DECLS

/// Entry of K^e: mode i of side l, mode j of side k.
KG_INLINE double kg_local_entry(const kg_local_element *e, int l, int i, int k, int j)
{
  const int row = l * e->m + i, column = k * e->m + j;
  switch (e->layout) {
    case KG_LAYOUT_PACKED:
      return kg_local_row(e, kg_packed_entry(row, column));
    case KG_LAYOUT_DIFFERENCES:
      return kg_local_from_differences(e, row, column);
    case KG_LAYOUT_REDUCED:
      return kg_local_from_reduced(e, l, i, k, j);
    default:
      return kg_local_value(e, e->at + kg_full_entry(e->n, e->m, l, i, column));
  }
}

KEDGE_END_DECLS

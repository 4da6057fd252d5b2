/// @file
/// Full K^e, all n^2 entries, as a product needs them that goes edge by edge
/// (ops/trace/trace_gather.h):
///
///     [element][edge of the rows][column][mode of the row]
///
/// What an edge needs of an element is one piece of n m numbers, in which its m rows are
/// neighbours.
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

/// The place in an element of mode i of side l, column j of K^e, with n columns and m modes an
/// edge.
KG_INLINE int kg_full_entry(int n, int m, int l, int i, int j)
{
  return (l * n + j) * m + i;
}

KEDGE_END_DECLS

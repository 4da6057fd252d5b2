/// @file
/// The ELL matrix assembled by elements, with atomic additions: what King 2014 avoids by going by
/// edges.
#pragma once
#include "ops/assembled/ell.h"
KEDGE_BEGIN_DECLS

/// Where entry (a, b) of K^e of element e stands in the matrix; -1: in the row of no free edge.
KG_INLINE int64_t assembly_place(const kg_trace_arrays *arrays, const kg_ell_matrix *matrix, int m,
                                 int32_t e, int a, int b)
{
  const int l = a / m, k = b / m;
  const int64_t row = (int64_t)(arrays->side_edge[kg_facet_at(arrays, e, l)] >> 1) * m + a % m;
  if (row >= matrix->rows) return -1;
  const bool second = arrays->edge_sides[2 * (row / m)] != kg_side_of(e, l);
  const int block = k == l ? 0 : (second ? 3 : 1) + (k < l ? k : k - 1);
  return (int64_t)(block * m + b % m) * matrix->stride + row;
}

/// The column of entry b of a row of K^e.
KG_INLINE int32_t assembly_column(const kg_trace_arrays *arrays, int m, int32_t e, int b)
{
  return (int32_t)(arrays->side_edge[kg_facet_at(arrays, e, b / m)] >> 1) * m + b % m;
}

/// Triangles alone, packed K^e; `work` is not used. An entry is the sum of at most two numbers, so
/// that the order of the additions does not matter.
kedge_status assembly_by_elements(kedge_context *ctx, const kg_ell_assemble_args *args);
kedge_status assembly_by_elements_cuda(kedge_context *ctx, const kg_ell_assemble_args *args);

KEDGE_END_DECLS

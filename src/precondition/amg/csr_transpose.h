/// @file
/// The transpose of a prolongation; its rows' columns ascend.
#pragma once
#include "precondition/amg/csr_make.h"
KEDGE_BEGIN_DECLS

/// @param[in]  matrix     in parts of one
/// @param[in]  n_columns  of `matrix`
/// @param[in]  work       is as full as before afterwards
/// @param[in]  arena      takes the transpose
kedge_status kg_csr_transpose(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                              kg_arena *work, kg_arena *arena, kg_csr *out);

/// Find entry (i, j), which must exist.
KG_INLINE int32_t kg_csr_find(const kg_csr *a, int32_t i, int32_t j)
{
  int32_t e = a->row[i];
  while (a->column[e] != j) ++e;
  return e;
}

kedge_status kg_csr_transpose_cuda(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                                   kg_arena *work, kg_csr place);

KEDGE_END_DECLS

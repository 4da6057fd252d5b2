/// @file
/// Sparse matrices of the multigrid.
#pragma once
#include "backend/backend.h"
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// A sparse matrix in device memory, rows compressed; of a square one the diagonal is the first
/// entry of its row. Columns come in no order, each once.
typedef struct kg_csr {
  int32_t n_rows;
  int32_t n_entries;
  const int32_t *row;     ///< [n_rows + 1]
  const int32_t *column;  ///< [n_entries]
  const double *value;    ///< [n_entries]
} kg_csr;

KEDGE_END_DECLS

/// @file
/// Sparse matrices of the multigrid.
///
/// A square one has its diagonal apart, in double precision; the entries beside it are rounded to
/// single precision, and what rounding takes from an entry goes to the diagonal of its row. It is
/// symmetric, but that an entry of a coarse level and its mirror image, which are sums in different
/// orders, may round to neighbouring numbers. So rows keep their sums s_i, and with a_ij <= 0
///
///     x . A x = sum_i s_i x_i^2 + sum_{i < j} -a_ij (x_i - x_j)^2
///
/// changes by no more than 6e-8 of itself, however large the matrix and whatever its condition.
#pragma once
#include "device/backend.h"
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// A sparse matrix in device memory, its rows compressed. Columns of a row come in no order, each
/// once. Who makes it writes the arrays; everybody else reads them.
typedef struct kg_csr {
  int32_t n_rows;
  int32_t n_entries;  ///< beside the diagonal
  int32_t *row;       ///< [n_rows + 1]
  int32_t *column;    ///< [n_entries]
  float *value;       ///< [n_entries]
  double *wide;       ///< [n_entries] instead of `value`: of a product on its way to another one
  uint16_t *part;    ///< [n_entries] instead of `value`, in parts of one: of a prolongation and its
                     ///< transpose
  double *diagonal;  ///< [n_rows]; NULL: the matrix is not square
} kg_csr;

#define KG_CSR_PARTS 32768.0  ///< make one

KG_INLINE double kg_csr_value(const kg_csr *a, int32_t e)
{
  if (a->part) return (double)a->part[e] / KG_CSR_PARTS;
  return a->wide ? a->wide[e] : (double)a->value[e];
}

KEDGE_END_DECLS

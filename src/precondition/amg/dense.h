/// @file
/// The coarsest level: the inverse of its matrix as a dense one, of which one triangle is kept, and
/// the product with it.
#pragma once
#include "ops/pass.h"
#include "precondition/amg/csr.h"
KEDGE_BEGIN_DECLS

enum { KG_DENSE_PIVOTS = 32 };  ///< of a block

typedef struct kg_dense_inverse_args {
  kg_csr matrix;    ///< symmetric
  double *inverse;  ///< [kg_dense_entries(rows)]: row i up to the diagonal, from kg_dense_at(i, 0)
  double *square;   ///< work: [row][row]
  double *work;     ///< work: kg_dense_work(rows)
  int32_t *fault;   ///< work: [1]: not 0: a pivot is lost in rounding, or negative
} kg_dense_inverse_args;

static inline size_t kg_dense_entries(int32_t n_rows)
{
  return (size_t)n_rows * ((size_t)n_rows + 1) / 2;
}

/// The place of entry (i, j) of a symmetric matrix.
KG_INLINE int32_t kg_dense_at(int32_t i, int32_t j)
{
  return i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/// Doubles of the work array: the rows of two blocks of pivots.
static inline size_t kg_dense_work(int32_t n_rows)
{
  return 2 * KG_DENSE_PIVOTS * (size_t)n_rows;
}

/// Gauss-Jordan elimination in place, without a search for pivots, which positive definite matrices
/// do not need. Pivots are taken in blocks: the rest of the matrix is then passed once a block.
/// @retval KEDGE_ERR_NUMERIC  the matrix is not positive definite beyond rounding
kedge_status kg_dense_inverse(kedge_context *ctx, const kg_dense_inverse_args *args);

/// y = inverse x, of n rows; the inverse as csr_apply.h asks it of a matrix.
/// @param[in] many  of KG_VECTORS vectors: [row][vector]
kedge_status kg_dense_apply(kedge_context *ctx, int32_t n, const double *inverse, const double *x,
                            double *y, bool many);

/// Whether pivot k is that of a positive definite matrix: larger than what rounding leaves of a
/// pivot that is 0.
KG_INLINE bool kg_dense_is_positive(const kg_csr *matrix, int32_t k, double pivot)
{
  const double epsilon = 2.220446049250313e-16;
  return pivot > 16.0 * matrix->n_rows * epsilon * matrix->diagonal[k];
}

kedge_status kg_dense_inverse_cuda(kedge_context *ctx, const kg_dense_inverse_args *args);
kedge_status kg_dense_apply_cuda(kedge_context *ctx, int32_t n, const double *inverse,
                                 const double *x, double *y, bool many);

KEDGE_END_DECLS

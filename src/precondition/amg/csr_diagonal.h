/// @file
/// The diagonal of a matrix, and how large D^-1 A is.
#pragma once
#include "precondition/amg/csr.h"
KEDGE_BEGIN_DECLS

/// Pieces of a sum over rows, added in order: it does not depend on the number of threads.
enum { KG_CSR_PIECES = 256 };

typedef struct kg_csr_diagonal_args {
  kg_csr matrix;
  double *x;        ///< [row]: set to fixed random numbers in [-1, 1]
  int32_t *faults;  ///< work: [1]: not 0: a diagonal entry is not positive
} kg_csr_diagonal_args;

/// Check that the diagonal is positive and set x to random numbers, where the search for an
/// eigenvalue begins.
/// @retval KEDGE_ERR_NUMERIC  an entry of the diagonal is not positive
kedge_status kg_csr_diagonal(kedge_context *ctx, const kg_csr_diagonal_args *args);

typedef struct kg_csr_norms_args {
  int32_t n;
  const double *x, *y, *diagonal;
  double *partial;  ///< work: [2][KG_CSR_PIECES]
} kg_csr_norms_args;

/// sqrt(y.Dy / x.Dx): below the largest eigenvalue of D^-1 A for y = D^-1 A x, and
/// the nearer to it the more often x has been multiplied before.
kedge_status kg_csr_growth(kedge_context *ctx, const kg_csr_norms_args *args, double *growth);

KG_INLINE bool kg_csr_diagonal_row(const kg_csr_diagonal_args *a, int32_t i)
{
  const double diagonal = a->matrix.diagonal[i];
  uint32_t h = (uint32_t)i * 0x9e3779b1u + 0x7f4a7c15u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  h ^= h >> 15;
  a->x[i] = (double)(int32_t)h / 2147483648.0;
  return diagonal > 0.0 && 1.0 / diagonal > 0.0;
}

kedge_status kg_csr_diagonal_cuda(kedge_context *ctx, const kg_csr_diagonal_args *args);
kedge_status kg_csr_norms_cuda(kedge_context *ctx, const kg_csr_norms_args *args);

KEDGE_END_DECLS

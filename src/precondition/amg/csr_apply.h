/// @file
/// Products of sparse matrices with vectors, each with what follows in the cycle fused to it. On a
/// GPU they may read the matrix while earlier kernels still run (device/cuda_chain.cuh): it must
/// have been complete when the host last waited, or a kernel that is not chained began. Only
/// kg_csr_start() and KG_CSR_SCALED take one that was just made.
#pragma once
#include "ops/pass.h"
#include "precondition/amg/csr.h"
KEDGE_BEGIN_DECLS

typedef struct kg_csr_apply_args {
  kg_csr matrix;  ///< restrict, prolong: in parts of one; else in single precision
  const double *x;
  double *y;
  const double *b;         ///< step, residual, start
  const double *diagonal;  ///< restrict: of the next matrix
  const double *previous;  ///< what y was a step before; NULL: zero. step: may be y
  double *z;               ///< restrict: weight * y / diagonal; NULL: not wanted
  double momentum, weight;
  bool many;  ///< of KG_VECTORS vectors: [row][vector] (ops/pass.h)
} kg_csr_apply_args;

/// y = weight D^-1 b
KG_DECLARE_OPERATOR(kg_csr_start, kg_csr_apply_args);
KG_INLINE void kg_csr_start_row(const kg_csr_apply_args *a, int32_t i)
{
  a->y[i] = a->weight * a->b[i] / a->matrix.diagonal[i];
}
/// @param[in] i  row, and which of its vectors
KG_INLINE void kg_csr_start_many(const kg_csr_apply_args *a, int64_t i)
{
  a->y[i] = a->weight * a->b[i] / a->matrix.diagonal[i / KG_VECTORS];
}

/// Uses of the sum of a row in a product.
typedef enum kg_csr_rule {
  KG_CSR_STEP,      ///< y = x + momentum (x - previous) + weight D^-1 (b - A x): of Chebyshev
  KG_CSR_RESIDUAL,  ///< y = b - A x
  KG_CSR_RESTRICT,  ///< y = A x, z = weight D^-1 y: to the coarser level, and its first step
  KG_CSR_PROLONG,   ///< y += A x: from the coarser level
  KG_CSR_SCALED,    ///< y = D^-1 A x
} kg_csr_rule;

kedge_status kg_csr_apply(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args);

/// Numbers from which the result of a row is made beside the sum of its entries; their loads need
/// not wait for the sum.
typedef struct kg_csr_row {
  double x, previous, b, y, diagonal;
} kg_csr_row;

/// @param[in] at  where the number of row i is in its vector
KG_INLINE kg_csr_row kg_csr_row_of(const kg_csr_apply_args *a, kg_csr_rule rule, int32_t i,
                                   int64_t at)
{
  kg_csr_row row = {0.0, 0.0, 0.0, 0.0, 0.0};
  const bool residual = rule == KG_CSR_STEP || rule == KG_CSR_RESIDUAL;
  if (rule == KG_CSR_RESTRICT)
    row.diagonal = a->z ? a->diagonal[i] : 1.0;
  else if (rule == KG_CSR_PROLONG)
    row.y = a->y[at];
  else
    row.diagonal = a->matrix.diagonal[i];
  if (residual || rule == KG_CSR_SCALED) row.x = a->x[at];
  if (residual) row.b = a->b[at];
  if (rule == KG_CSR_STEP && a->previous) row.previous = a->previous[at];
  return row;
}

/// @param[in] sum  over the entries beside the diagonal
KG_INLINE void kg_csr_finish(const kg_csr_apply_args *a, kg_csr_rule rule, int64_t at,
                             const kg_csr_row *row, double sum)
{
  const double x = row->x, d = row->diagonal;
  switch (rule) {
    case KG_CSR_STEP:
      a->y[at] = x + a->momentum * (x - row->previous) + a->weight * ((row->b - sum) / d - x);
      return;
    case KG_CSR_RESIDUAL:
      a->y[at] = row->b - (sum + d * x);
      return;
    case KG_CSR_RESTRICT:
      a->y[at] = sum;
      if (a->z) a->z[at] = a->weight * sum / d;
      return;
    case KG_CSR_PROLONG:
      a->y[at] = row->y + sum;
      return;
    case KG_CSR_SCALED:
      a->y[at] = x + sum / d;
      return;
  }
}

kedge_status kg_csr_apply_cuda(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args);

KEDGE_END_DECLS

/// @file
/// Products of sparse matrices with vectors, each with what follows in the cycle fused to it.
#pragma once
#include "multigrid/csr.h"
KEDGE_BEGIN_DECLS

typedef struct kg_csr_apply_args {
  kg_csr matrix;  ///< restrict, prolong: in parts of one; else in single precision
  const double *x;
  double *y;
  const double *b;         ///< step, residual, start
  const double *diagonal;  ///< restrict: of the next matrix
  const double *previous;  ///< step: what y was a step before; may be y; NULL: zero
  double *z;               ///< restrict: weight * y / diagonal; NULL: not wanted
  double momentum, weight;
} kg_csr_apply_args;

/// y = weight D^-1 b
kedge_status kg_csr_start(kedge_context *ctx, const kg_csr_apply_args *args);
/// y = x + momentum (x - previous) + weight D^-1 (b - A x): a step of Chebyshev iteration
kedge_status kg_csr_step(kedge_context *ctx, const kg_csr_apply_args *args);
/// y = b - A x
kedge_status kg_csr_residual(kedge_context *ctx, const kg_csr_apply_args *args);
/// y = A x, z = weight D^-1 y: to the coarser level, and its first step
kedge_status kg_csr_restrict(kedge_context *ctx, const kg_csr_apply_args *args);
/// y += A x: from the coarser level
kedge_status kg_csr_prolong(kedge_context *ctx, const kg_csr_apply_args *args);
/// y = D^-1 A x
kedge_status kg_csr_scaled(kedge_context *ctx, const kg_csr_apply_args *args);

/// What a product does with the sum of its row.
typedef enum kg_csr_rule {
  KG_CSR_STEP,
  KG_CSR_RESIDUAL,
  KG_CSR_RESTRICT,
  KG_CSR_PROLONG,
  KG_CSR_SCALED,
} kg_csr_rule;

/// @param[in] sum  over the entries beside the diagonal
KG_INLINE void kg_csr_finish(const kg_csr_apply_args *a, kg_csr_rule rule, int32_t i, double sum)
{
  const double *d = a->matrix.diagonal;
  switch (rule) {
    case KG_CSR_STEP: {
      const double x = a->x[i], previous = a->previous ? a->previous[i] : 0.0;
      a->y[i] = x + a->momentum * (x - previous) + a->weight * ((a->b[i] - sum) / d[i] - x);
      return;
    }
    case KG_CSR_RESIDUAL:
      a->y[i] = a->b[i] - (sum + d[i] * a->x[i]);
      return;
    case KG_CSR_RESTRICT:
      a->y[i] = sum;
      if (a->z) a->z[i] = a->weight * sum / a->diagonal[i];
      return;
    case KG_CSR_PROLONG:
      a->y[i] += sum;
      return;
    case KG_CSR_SCALED:
      a->y[i] = a->x[i] + sum / d[i];
      return;
  }
}

/// Bytes and operations of one product.
kg_cost kg_csr_apply_cost(const kg_csr *matrix, kg_csr_rule rule);

kedge_status kg_csr_start_host(kedge_context *ctx, const kg_csr_apply_args *args);
kedge_status kg_csr_apply_host(kedge_context *ctx, const kg_csr_apply_args *args, kg_csr_rule rule);
kedge_status kg_csr_start_cuda(kedge_context *ctx, const kg_csr_apply_args *args);
kedge_status kg_csr_apply_cuda(kedge_context *ctx, const kg_csr_apply_args *args, kg_csr_rule rule);

KEDGE_END_DECLS

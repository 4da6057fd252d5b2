#include "core/loop.h"
#include "multigrid/csr_apply.h"

kedge_status kg_csr_start_host(kedge_context *ctx, const kg_csr_apply_args *a)
{
#pragma omp parallel for simd schedule(static) num_threads(kg_row_threads(ctx, a->matrix.n_rows))
  for (int32_t i = 0; i < a->matrix.n_rows; ++i)
    a->y[i] = a->weight * a->b[i] / a->matrix.diagonal[i];
  return KEDGE_OK;
}

kedge_status kg_csr_apply_host(kedge_context *ctx, const kg_csr_apply_args *args, kg_csr_rule rule)
{
  const kg_csr *matrix = &args->matrix;
#pragma omp parallel for schedule(static) num_threads(kg_row_threads(ctx, matrix->n_rows))
  for (int32_t i = 0; i < matrix->n_rows; ++i) {
    double sum = 0.0;
    for (int32_t e = matrix->row[i]; e < matrix->row[i + 1]; ++e)
      sum += (double)matrix->value[e] * args->x[matrix->column[e]];
    kg_csr_finish(args, rule, i, sum);
  }
  return KEDGE_OK;
}

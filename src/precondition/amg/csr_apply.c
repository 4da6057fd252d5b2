#include "precondition/amg/csr_apply.h"

#include "device/loop.h"

KG_OPERATOR(kg_csr_start, kg_csr_apply_args)

kedge_status kg_csr_start_host(kedge_context *ctx, const kg_csr_apply_args *a)
{
#pragma omp parallel for simd schedule(static) \
    num_threads(kg_loop_threads(ctx, a->matrix.n_rows, 4))
  for (int32_t i = 0; i < a->matrix.n_rows; ++i) kg_csr_start_row(a, i);
  return KEDGE_OK;
}

/// Row i of A x beside the diagonal.
static double row_of_product(const kg_csr *a, const double *x, int32_t i)
{
  double sum = 0.0;
  if (a->part)
    for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e)
      sum += (double)a->part[e] / KG_CSR_PARTS * x[a->column[e]];
  else
    for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e)
      sum += (double)a->value[e] * x[a->column[e]];
  return sum;
}

static kedge_status apply(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args)
{
  const kg_csr *matrix = &args->matrix;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, matrix->n_rows, 32))
  for (int32_t i = 0; i < matrix->n_rows; ++i) {
    const kg_csr_row row = kg_csr_row_of(args, rule, i);
    kg_csr_finish(args, rule, i, &row, row_of_product(matrix, args->x, i));
  }
  return KEDGE_OK;
}

kedge_status kg_csr_apply(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args)
{
  return KG_IMPLEMENTATION(ctx, apply, kg_csr_apply_cuda)(ctx, rule, args);
}

#include "precondition/amg/csr_apply.h"

#include "device/loop.h"

KG_OPERATOR(kg_csr_start, kg_csr_apply_args)

kedge_status kg_csr_start_host(kedge_context *ctx, const kg_csr_apply_args *a)
{
  if (a->many) {
    for (int64_t i = 0; i < (int64_t)a->matrix.n_rows * KG_VECTORS; ++i) kg_csr_start_many(a, i);
    return KEDGE_OK;
  }
#pragma omp parallel for simd schedule(static) \
    num_threads(kg_loop_threads(ctx, a->matrix.n_rows, 4))
  for (int32_t i = 0; i < a->matrix.n_rows; ++i) kg_csr_start_row(a, i);
  return KEDGE_OK;
}

/// Row i of A x beside the diagonal, of one of K vectors.
static inline double row_of_product(const kg_csr *a, const double *x, int32_t i, int K)
{
  double sum = 0.0;
  if (a->part)
    for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e)
      sum += (double)a->part[e] / KG_CSR_PARTS * x[(int64_t)a->column[e] * K];
  else
    for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e)
      sum += (double)a->value[e] * x[(int64_t)a->column[e] * K];
  return sum;
}

/// Row i of all K vectors.
static inline void apply_row(const kg_csr_apply_args *args, kg_csr_rule rule, int32_t i, int K)
{
  for (int v = 0; v < K; ++v) {
    const int64_t at = (int64_t)i * K + v;
    const kg_csr_row row = kg_csr_row_of(args, rule, i, at);
    kg_csr_finish(args, rule, at, &row, row_of_product(&args->matrix, args->x + v, i, K));
  }
}

/// K is a constant in each branch: products of one vector are a quarter faster for it.
static kedge_status apply(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args)
{
  const int32_t n = args->matrix.n_rows;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 32))
  for (int32_t i = 0; i < n; ++i)
    if (!args->many)
      apply_row(args, rule, i, 1);
    else
      apply_row(args, rule, i, KG_VECTORS);
  return KEDGE_OK;
}

kedge_status kg_csr_apply(kedge_context *ctx, kg_csr_rule rule, const kg_csr_apply_args *args)
{
  return KG_IMPLEMENTATION(ctx, apply, kg_csr_apply_cuda)(ctx, rule, args);
}
